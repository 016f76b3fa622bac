/* tilescope: a simulated Blackhole chip. Written by cbindgen from src/capi.rs. */

#ifndef TILESCOPE_H
#define TILESCOPE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// What came of a call.
typedef enum tilescope_status {
  // It was done.
  TILESCOPE_STATUS_OK = 0,
  // An argument is null or means nothing.
  TILESCOPE_STATUS_INVALID_ARGUMENT = 1,
  // The chip refuses the access; bytes to be read are all ones.
  TILESCOPE_STATUS_REFUSED = 2,
  // It was done, and firmware or a kernel erred; `tilescope_report` says how.
  TILESCOPE_STATUS_GUEST_ERROR = 3,
  // The simulator failed. Only `tilescope_error` and `tilescope_destroy` are of use now.
  TILESCOPE_STATUS_BROKEN = 4,
} tilescope_status;

// A chip.
typedef struct tilescope_chip tilescope_chip;

// Reads host memory: fills `size` bytes at `destination` with what the host has at `paddr`.
typedef void (*tilescope_read_function)(void *user, uint64_t paddr, void *destination, uint32_t size);

// Writes `size` bytes from `source` into host memory at `paddr`.
typedef void (*tilescope_write_function)(void *user,
                                         uint64_t paddr,
                                         const void *source,
                                         uint32_t size);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, a static string.
const char *tilescope_version(void);

// Makes a chip. `settings` is a list of strings `NAME=VALUE`, closed by a null pointer, with the
// names that are environment variables elsewhere (`TILESCOPE_PRODUCT`, `TILESCOPE_COLUMNS_OFF`,
// `TILESCOPE_THREADS`, `TILESCOPE_CYCLES_PER_CLOCK`, `TILESCOPE_EPOCH`, `TILESCOPE_PARKING`,
// `TILESCOPE_AHEAD`, `TILESCOPE_TIMING`); what it does not name has its default. A null pointer
// takes the environment's. On success `*created`
// is the chip, to be given to `tilescope_destroy` once; else it is null, and
// `tilescope_error(NULL, ...)` says why.
//
// # Safety
// `settings` and `created` are as described.
enum tilescope_status tilescope_create(const char *const *settings,
                                       struct tilescope_chip **created);

// Frees a chip; a null pointer is fine.
//
// # Safety
// `chip` is null or came from `tilescope_create`; nobody uses it any more.
void tilescope_destroy(struct tilescope_chip *chip);

// Copies the text of the chip's latest error, cut to `size` bytes with a closing zero, and returns
// its whole length without the zero. Without a chip: why the latest `tilescope_create` failed.
//
// # Safety
// `chip` is null or a chip; `text` is null or has `size` bytes.
size_t tilescope_error(const struct tilescope_chip *chip, char *text, size_t size);

// Copies the oldest guest error not taken yet, as `tilescope_error` does, and takes it if it fitted.
// Returns 0 when there is none.
//
// # Safety
// `chip` is null or a chip; `text` is null or has `size` bytes.
size_t tilescope_report(const struct tilescope_chip *chip,
                        char *text,
                        size_t size);

// Reads a word of PCI configuration space. `bdf` is the device number times eight.
//
// # Safety
// `chip` is null or a chip; `value` may be written.
enum tilescope_status tilescope_config_read(const struct tilescope_chip *chip,
                                            uint32_t bdf,
                                            uint32_t offset,
                                            uint32_t *value);

// Writes a word of PCI configuration space.
//
// # Safety
// `chip` is null or a chip.
enum tilescope_status tilescope_config_write(const struct tilescope_chip *chip,
                                             uint32_t bdf,
                                             uint32_t offset,
                                             uint32_t value);

// Reads `size` bytes at a physical address: a BAR's base plus an offset.
//
// # Safety
// `chip` is null or a chip; `bytes` has room for `size` bytes.
enum tilescope_status tilescope_pci_read(const struct tilescope_chip *chip,
                                         uint64_t paddr,
                                         void *bytes,
                                         size_t size);

// Writes `size` bytes at a physical address.
//
// # Safety
// `chip` is null or a chip; `bytes` has `size` bytes.
enum tilescope_status tilescope_pci_write(const struct tilescope_chip *chip,
                                          uint64_t paddr,
                                          const void *bytes,
                                          size_t size);

// Reads `size` bytes at `address` of the tile at a translated NoC coordinate.
//
// # Safety
// `chip` is null or a chip; `bytes` has room for `size` bytes.
enum tilescope_status tilescope_tile_read(const struct tilescope_chip *chip,
                                          uint32_t x,
                                          uint32_t y,
                                          uint64_t address,
                                          void *bytes,
                                          size_t size);

// Writes `size` bytes at `address` of the tile at a translated NoC coordinate.
//
// # Safety
// `chip` is null or a chip; `bytes` has `size` bytes.
enum tilescope_status tilescope_tile_write(const struct tilescope_chip *chip,
                                           uint32_t x,
                                           uint32_t y,
                                           uint64_t address,
                                           const void *bytes,
                                           size_t size);

// Lets host clocks pass; how many cycles one stands for is a setting.
//
// # Safety
// `chip` is null or a chip.
enum tilescope_status tilescope_clock(const struct tilescope_chip *chip, uint32_t clocks);

// The chip's time in AI-clock cycles.
//
// # Safety
// `chip` is null or a chip; `cycles` may be written.
enum tilescope_status tilescope_now(const struct tilescope_chip *chip, uint64_t *cycles);

// Witness of everything that determines the chip's future: two chips that got the same calls have
// the same.
//
// # Safety
// `chip` is null or a chip; `hash` may be written.
enum tilescope_status tilescope_state_hash(const struct tilescope_chip *chip, uint64_t *hash);

// Gives the chip host memory to reach by DMA. The functions get `user` back; they are called from
// within other calls on this chip, on any thread, and must not call it.
//
// # Safety
// `chip` is null or a chip; the functions may be called with `user` until the chip is destroyed.
enum tilescope_status tilescope_set_host_memory(const struct tilescope_chip *chip,
                                                tilescope_read_function read,
                                                tilescope_write_function write,
                                                void *user);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TILESCOPE_H */
