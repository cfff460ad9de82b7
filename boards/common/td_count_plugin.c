/* A TCG plugin for QEMU that counts executed guest instructions between addresses given in a file.
 *
 * Translated code is cut into segments: straight runs of instructions that start a block or an event address. Each adds
 * its length to a counter as it starts, without a call; only the few event addresses call back. The QEMU project's
 * header is not needed: the functions used here are declared below (API version 1 of QEMU 4.2 to 8.2, version 2 of 9.0
 * on).
 *
 * events=FILE: lines "HEXADDRESS KIND NUMBER"; kinds: E enters and L leaves region NUMBER (0: the inference, 1: the
 * reset), S gives what follows in region 0 to slot NUMBER. out=FILE: lines "region N calls first least most" and
 * "seg HEXADDRESS length slot executions", the last for the first passage of region 0. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TD_PLUGIN_API
#define TD_PLUGIN_API 1
#endif

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;

#define EXPORT __attribute__((visibility("default")))

extern EXPORT int qemu_plugin_version;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*callback)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*callback)(qemu_plugin_id_t, void *), void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, void (*callback)(unsigned int, void *),
                                            int flags, void *data);

enum { INLINE_ADD_U64 = 0, NO_REGISTERS = 0, PROBE_ANSWER = 77 };
enum { BUCKETS = 1 << 14, CHUNK = 1024, MAX_EVENTS = 65536, REGIONS = 2 };

EXPORT int qemu_plugin_version = TD_PLUGIN_API;

#if TD_PLUGIN_API == 1

void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int operation, void *counter,
                                                uint64_t amount);

typedef struct {
    uint64_t *value;
} counter;

static counter new_counter(void)
{
    static uint64_t *chunk;
    static size_t used = CHUNK;
    if (used == CHUNK) {
        chunk = calloc(CHUNK, sizeof *chunk);
        used = 0;
    }
    return (counter){&chunk[used++]};
}

static void add_inline(struct qemu_plugin_insn *insn, counter c, uint64_t amount)
{
    qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64, c.value, amount);
}

static uint64_t *value_of(counter c)
{
    return c.value;
}

#else

struct qemu_plugin_scoreboard;
typedef struct {
    struct qemu_plugin_scoreboard *score;
    size_t offset;
} qemu_plugin_u64;

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int vcpu_index);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn, int operation,
                                                         qemu_plugin_u64 entry, uint64_t amount);

typedef qemu_plugin_u64 counter;

static counter new_counter(void)
{
    static struct qemu_plugin_scoreboard *chunk;
    static size_t used = CHUNK;
    if (used == CHUNK) {
        chunk = qemu_plugin_scoreboard_new(CHUNK * sizeof(uint64_t));
        used = 0;
    }
    return (counter){chunk, sizeof(uint64_t) * used++};
}

static void add_inline(struct qemu_plugin_insn *insn, counter c, uint64_t amount)
{
    qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(insn, INLINE_ADD_U64, c, amount);
}

static uint64_t *value_of(counter c)
{
    return (uint64_t *)((char *)qemu_plugin_scoreboard_find(c.score, 0) + c.offset);
}

#endif

/* Executions of a segment on behalf of one slot. */
typedef struct share {
    struct share *next;
    unsigned int slot;
    uint64_t executions;
} share;

typedef struct segment {
    struct segment *next;
    uint64_t address;
    uint64_t length;
    uint64_t seen; /* executions that are in a share already, or lie before the first inference */
    share *shares;
    counter count;
} segment;

typedef struct {
    uint64_t address;
    char kind;
    unsigned int number;
} event;

typedef struct {
    uint64_t calls, first, least, most, entered;
    bool inside;
} region;

static segment *buckets[BUCKETS];
static event events[MAX_EVENTS];
static size_t event_count;
static region regions[REGIONS];
static unsigned int current_slot;
static counter total;
static char out_path[4096];

static segment *find_segment(uint64_t address, uint64_t length)
{
    segment **place = &buckets[(address >> 1) % BUCKETS];
    for (segment *s = *place; s != NULL; s = s->next) {
        if (s->address == address && s->length == length) {
            return s;
        }
    }
    segment *s = calloc(1, sizeof *s);
    s->address = address;
    s->length = length;
    s->count = new_counter();
    s->next = *place;
    *place = s;
    return s;
}

static int compare_events(const void *left, const void *right)
{
    const event *a = left, *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

/* The first event at an address; those behind it follow in the table. */
static event *find_event(uint64_t address)
{
    size_t low = 0, high = event_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (events[middle].address < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < event_count && events[low].address == address ? &events[low] : NULL;
}

static void add_share(segment *s, unsigned int slot, uint64_t executions)
{
    share **place = &s->shares;
    while (*place != NULL && (*place)->slot != slot) {
        place = &(*place)->next;
    }
    if (*place == NULL) {
        *place = calloc(1, sizeof **place);
        (*place)->slot = slot;
    }
    (*place)->executions += executions;
}

/* What ran since the last settlement belongs to the current slot, or to nobody before the inference. */
static void settle(bool to_slot)
{
    for (size_t i = 0; i < BUCKETS; ++i) {
        for (segment *s = buckets[i]; s != NULL; s = s->next) {
            const uint64_t now = *value_of(s->count) / s->length;
            if (to_slot && now != s->seen) {
                add_share(s, current_slot, now - s->seen);
            }
            s->seen = now;
        }
    }
}

static void switch_slot(unsigned int slot)
{
    if (regions[0].calls == 0) {
        settle(true);
    }
    current_slot = slot;
}

static void enter(unsigned int number, uint64_t now)
{
    region *r = &regions[number];
    r->inside = true;
    r->entered = now;
    if (number == 0) {
        current_slot = 0;
        if (r->calls == 0) {
            settle(false);
        }
    }
}

static void leave(unsigned int number, uint64_t now)
{
    region *r = &regions[number];
    if (!r->inside) {
        return;
    }
    const uint64_t spent = now - r->entered;
    if (number == 0) {
        switch_slot(0);
    }
    if (r->calls == 0) {
        r->first = r->least = r->most = spent;
    }
    r->least = spent < r->least ? spent : r->least;
    r->most = spent > r->most ? spent : r->most;
    r->calls += 1;
    r->inside = false;
}

static void at_event(unsigned int vcpu, void *data)
{
    segment *s = data;
    uint64_t *sum = value_of(total);
    (void)vcpu;
    for (const event *e = find_event(s->address); e < events + event_count && e->address == s->address; ++e) {
        if (e->kind == 'E') {
            enter(e->number, *sum);
        } else if (e->kind == 'L') {
            leave(e->number, *sum);
        } else if (regions[0].inside) {
            switch_slot(e->number);
        }
    }
    *value_of(s->count) += s->length;
    *sum += s->length;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    const size_t count = qemu_plugin_tb_n_insns(block);
    (void)id;
    for (size_t start = 0, end; start < count; start = end) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, start);
        const uint64_t address = qemu_plugin_insn_vaddr(insn);
        for (end = start + 1; end < count; ++end) {
            if (find_event(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, end))) != NULL) {
                break;
            }
        }
        segment *s = find_segment(address, end - start);
        if (find_event(address) != NULL) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, at_event, NO_REGISTERS, s);
        } else {
            add_inline(insn, s->count, s->length);
            add_inline(insn, total, s->length);
        }
    }
}

static void on_exit(qemu_plugin_id_t id, void *data)
{
    FILE *file = fopen(out_path, "w");
    (void)id;
    (void)data;
    if (file == NULL) {
        return;
    }
    for (unsigned int i = 0; i < REGIONS; ++i) {
        const region *r = &regions[i];
        fprintf(file, "region %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i, r->calls, r->first, r->least,
                r->most);
    }
    for (size_t i = 0; i < BUCKETS; ++i) {
        for (const segment *s = buckets[i]; s != NULL; s = s->next) {
            for (const share *part = s->shares; part != NULL; part = part->next) {
                fprintf(file, "seg %" PRIx64 " %" PRIu64 " %u %" PRIu64 "\n", s->address, s->length, part->slot,
                        part->executions);
            }
        }
    }
    fclose(file);
}

static bool read_events(const char *path)
{
    FILE *file = fopen(path, "r");
    event e;
    if (file == NULL) {
        return false;
    }
    while (event_count < MAX_EVENTS && fscanf(file, "%" SCNx64 " %c %u", &e.address, &e.kind, &e.number) == 3) {
        if (e.number >= (e.kind == 'S' ? (unsigned int)MAX_EVENTS : (unsigned int)REGIONS)) {
            fclose(file);
            return false;
        }
        events[event_count++] = e;
    }
    fclose(file);
    qsort(events, event_count, sizeof events[0], compare_events);
    return event_count != 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
    bool have_events = false;
    (void)info;
    for (int i = 0; i < argc; ++i) {
        if (strcmp(argv[i], "probe=on") == 0) {
            return PROBE_ANSWER;
        }
        if (strncmp(argv[i], "events=", 7) == 0) {
            have_events = read_events(argv[i] + 7);
        } else if (strncmp(argv[i], "out=", 4) == 0) {
            snprintf(out_path, sizeof out_path, "%s", argv[i] + 4);
        }
    }
    if (!have_events || out_path[0] == '\0') {
        return 1;
    }
    total = new_counter();
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit, NULL);
    return 0;
}
