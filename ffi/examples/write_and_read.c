// Two chips: write to a tile's memory, read it back, let time pass, compare, and ask for something
// that does not exist.
//
//     cc -I ffi/include ffi/examples/write_and_read.c -L DIRECTORY -ltilescope_bh
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tilescope.h"

#define CHECK(call)                                                        \
    do {                                                                   \
        if ((call) != TILESCOPE_STATUS_OK) {                               \
            fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #call); \
            return 1;                                                      \
        }                                                                  \
    } while (0)

int main(void) {
    const char *settings[] = {"TILESCOPE_THREADS=1", "TILESCOPE_PRODUCT=full", NULL};
    tilescope_chip *chips[2] = {NULL, NULL};
    uint64_t hashes[2], cycles;
    for (int i = 0; i < 2; i++) {
        CHECK(tilescope_create(settings, &chips[i]));
        uint32_t id;
        CHECK(tilescope_config_read(chips[i], 0, 0, &id));
        printf("chip %d: vendor %04" PRIx32 " device %04" PRIx32 "\n", i, id & 0xFFFF, id >> 16);

        const char sent[] = "hello, tile";
        char received[sizeof sent] = {0};
        CHECK(tilescope_tile_write(chips[i], 1, 2, 0x1000, sent, sizeof sent));
        CHECK(tilescope_clock(chips[i], 10));
        CHECK(tilescope_tile_read(chips[i], 1, 2, 0x1000, received, sizeof received));
        printf("chip %d: tile (1,2) has \"%s\"\n", i, received);
        if (strcmp(sent, received) != 0) return 1;
        CHECK(tilescope_now(chips[i], &cycles));
        CHECK(tilescope_state_hash(chips[i], &hashes[i]));
    }
    printf("cycle %" PRIu64 ", hashes %s\n", cycles, hashes[0] == hashes[1] ? "equal" : "differ");
    if (hashes[0] != hashes[1]) return 1;

    uint32_t word = 0;
    char text[256];
    tilescope_status status = tilescope_pci_read(chips[0], 0x10, &word, sizeof word);
    tilescope_error(chips[0], text, sizeof text);
    printf("status %d, word %08" PRIx32 ": %s\n", (int)status, word, text);
    if (status != TILESCOPE_STATUS_REFUSED || word != 0xFFFFFFFF) return 1;

    const char *wrong[] = {"TILESCOPE_COLOUR=blue", NULL};
    tilescope_chip *none = chips[0];
    status = tilescope_create(wrong, &none);
    tilescope_error(NULL, text, sizeof text);
    printf("status %d: %s\n", (int)status, text);
    if (status != TILESCOPE_STATUS_INVALID_ARGUMENT || none != NULL) return 1;

    tilescope_destroy(chips[0]);
    tilescope_destroy(chips[1]);
    return 0;
}
