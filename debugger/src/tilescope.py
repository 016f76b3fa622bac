# Values of the coprocessor as gdb values, for `print`, watch windows and conditions:
#
#   $dst(ROW)  $srca(ROW)  $srcb(ROW)     16 values in the format in force
#   $lreg(N)   $lregf(N)                  32 lanes as words, as floats
#   $config("NAME"[, STATE or THREAD])    a field of the configuration
#   $tensix("PATH")                       what `monitor state PATH` shows: $tensix("tensix.sync.semaphore1.value")
#
# They are asked of the server by `monitor value`, and hold where the session stands.

import struct

import gdb


def told(what):
    text = gdb.execute("monitor value " + what, to_string=True).strip()
    if not text or text.startswith("error:"):
        raise gdb.GdbError(text[7:] or "no answer")
    return text.split()


def array(words, form, name):
    kind = gdb.lookup_type(name)
    data = struct.pack("<%d%s" % (len(words), form), *words)
    return gdb.Value(data, kind.array(len(words) - 1))


def numbers(cells):
    values = [int(cell[1:], 10 if cell[0] == "i" else 16) for cell in cells]
    if cells[0][0] == "f":
        return array(values, "I", "float")
    if cells[0][0] == "i":
        return array(values, "i", "int")
    return array(values, "I", "unsigned int")


class Row(gdb.Function):
    def __init__(self, name):
        super().__init__(name)
        self.what = name

    def invoke(self, row):
        return numbers(told("%s %d" % (self.what, int(row))))


class LReg(gdb.Function):
    def __init__(self, name, kind):
        super().__init__(name)
        self.kind = kind

    def invoke(self, number):
        lanes = [int(lane[1:], 16) for lane in told("lreg %d" % int(number))]
        return array(lanes, "I", self.kind)


class Config(gdb.Function):
    def invoke(self, name, state=0):
        cells = told("config %s %d" % (name.string(), int(state)))
        return int(cells[0][1:]) if len(cells) == 1 else numbers(cells)


class Tensix(gdb.Function):
    def invoke(self, path):
        cells = told(path.string())
        return int(cells[0][1:]) if len(cells) == 1 and cells[0][0] == "i" else numbers(cells)


for name in ("dst", "srca", "srcb"):
    Row(name)
LReg("lreg", "unsigned int")
LReg("lregf", "float")
Config("config")
Tensix("tensix")
