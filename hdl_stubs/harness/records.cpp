// Tells the bench the size of each record that is shared with Python, so that it never misreads one.
#include <cstring>

#include "csb.h"
#include "port.h"

namespace {

struct Size {
    const char* name;
    uint32_t nbytes;
};

#define SIZE(record) {#record, sizeof(harness::record)}
constexpr Size SIZES[] = {
    SIZE(WriteRecord), SIZE(ReadRecord), SIZE(FaultRecord), SIZE(ViolationRecord), SIZE(PortSettings), SIZE(Outstanding),
    SIZE(Op),          SIZE(Result),     SIZE(Access),      SIZE(CsbViolation),    SIZE(CsbSettings),  SIZE(Page),
    SIZE(AnswerRecord),
};
#undef SIZE

}  // namespace

// The size of a record by its C++ name, or 0 if it does not exist.
extern "C" uint32_t nvb_record_bytes(const char* name) {
    for (const Size& size : SIZES) {
        if (!std::strcmp(size.name, name)) return size.nbytes;
    }
    return 0;
}
