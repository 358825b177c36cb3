/* A client of `nvdla-tb drive --socket PATH`: the functions of nvdla_tb.h for a driver in a process of its own.
 *
 *     int main(int argc, char **argv)
 *     {
 *         const struct nvdla_tb *tb = nvdla_tb_connect(argv[1]);
 *         return tb ? nvdla_tb_exit(nvdla_tb_main(tb)) : 1;
 *     }
 *
 * What the bench refuses ends the process with its words on stderr: the run is over then. One connection a process,
 * POSIX alone, little-endian machines.
 */
#ifndef NVDLA_TB_CLIENT_H
#define NVDLA_TB_CLIENT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "nvdla_tb.h"

enum nvdla_tb_operation {
    NVDLA_TB_REG_READ = 1, NVDLA_TB_REG_WRITE, NVDLA_TB_MEM_READ, NVDLA_TB_MEM_WRITE, NVDLA_TB_ALLOCATE,
    NVDLA_TB_RESERVE, NVDLA_TB_WAIT_INTERRUPT, NVDLA_TB_CYCLES, NVDLA_TB_DELAY, NVDLA_TB_LOG, NVDLA_TB_EXIT
};

struct nvdla_tb_request { uint32_t operation, ram; uint64_t address, value, nbytes; };
struct nvdla_tb_reply { uint32_t status, nbytes; uint64_t value; };

static int nvdla_tb_socket = -1;

static void nvdla_tb_move(char *data, uint64_t nbytes, int sends)
{
    while (nbytes) {
        ssize_t moved = sends ? write(nvdla_tb_socket, data, nbytes) : read(nvdla_tb_socket, data, nbytes);
        if (moved <= 0) {
            fprintf(stderr, "the bench has closed the connection\n");
            exit(1);
        }
        data += moved;
        nbytes -= (uint64_t)moved;
    }
}

static uint64_t nvdla_tb_reply_into(void *to)
{
    struct nvdla_tb_reply reply;
    nvdla_tb_move((char *)&reply, sizeof reply, 0);
    if (reply.status) {
        char text[512] = "";
        nvdla_tb_move(text, reply.nbytes < sizeof text ? reply.nbytes : sizeof text - 1, 0);
        fprintf(stderr, "the bench refuses: %s\n", text);
        exit(1);
    }
    nvdla_tb_move((char *)to, reply.nbytes, 0);
    return reply.value;
}

static uint64_t nvdla_tb_ask(enum nvdla_tb_operation operation, uint32_t ram, uint64_t address, uint64_t value,
                             uint64_t nbytes, const void *from, void *to)
{
    struct nvdla_tb_request request = {operation, ram, address, value, nbytes};
    nvdla_tb_move((char *)&request, sizeof request, 1);
    if (from)
        nvdla_tb_move((char *)from, nbytes, 1);
    return nvdla_tb_reply_into(to);
}

static uint32_t nvdla_tb_c_reg_read(uint32_t a) { return (uint32_t)nvdla_tb_ask(NVDLA_TB_REG_READ, 0, a, 0, 0, 0, 0); }
static void nvdla_tb_c_reg_write(uint32_t a, uint32_t v) { nvdla_tb_ask(NVDLA_TB_REG_WRITE, 0, a, v, 0, 0, 0); }
static void nvdla_tb_c_mem_read(uint32_t r, uint64_t a, void *to, uint64_t n) { nvdla_tb_ask(NVDLA_TB_MEM_READ, r, a, 0, n, 0, to); }
static void nvdla_tb_c_mem_write(uint32_t r, uint64_t a, const void *from, uint64_t n) { nvdla_tb_ask(NVDLA_TB_MEM_WRITE, r, a, 0, n, from, 0); }
static uint64_t nvdla_tb_c_allocate(uint32_t r, uint64_t n, uint64_t m) { return nvdla_tb_ask(NVDLA_TB_ALLOCATE, r, 0, m, n, 0, 0); }
static void nvdla_tb_c_reserve(uint32_t r, uint64_t a, uint64_t n) { nvdla_tb_ask(NVDLA_TB_RESERVE, r, a, 0, n, 0, 0); }
static int nvdla_tb_c_wait(uint64_t most) { return (int)nvdla_tb_ask(NVDLA_TB_WAIT_INTERRUPT, 0, 0, most, 0, 0, 0); }
static uint64_t nvdla_tb_c_cycles(void) { return nvdla_tb_ask(NVDLA_TB_CYCLES, 0, 0, 0, 0, 0, 0); }
static uint64_t nvdla_tb_c_microseconds(void) { return nvdla_tb_c_cycles() / 500; }
static void nvdla_tb_c_delay(uint64_t cycles) { nvdla_tb_ask(NVDLA_TB_DELAY, 0, 0, cycles, 0, 0, 0); }
static void nvdla_tb_c_log(const char *text) { nvdla_tb_ask(NVDLA_TB_LOG, 0, 0, 0, strlen(text), text, 0); }

/* Connect, and wait a minute at most for the bench to listen; return the functions, or NULL when nobody does. */
static const struct nvdla_tb *nvdla_tb_connect(const char *path)
{
    static const struct nvdla_tb functions = {
        NVDLA_TB_VERSION, nvdla_tb_c_reg_read, nvdla_tb_c_reg_write, nvdla_tb_c_mem_read, nvdla_tb_c_mem_write,
        nvdla_tb_c_allocate, nvdla_tb_c_reserve, nvdla_tb_c_wait, nvdla_tb_c_cycles, nvdla_tb_c_microseconds,
        nvdla_tb_c_delay, nvdla_tb_c_log};
    struct sockaddr_un address = {AF_UNIX, ""};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    for (int tries = 0; tries < 600; ++tries) {
        nvdla_tb_socket = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(nvdla_tb_socket, (struct sockaddr *)&address, sizeof address) == 0) {
            nvdla_tb_reply_into(0);
            return &functions;
        }
        close(nvdla_tb_socket);
        usleep(100000);
    }
    perror(path);
    return NULL;
}

/* End the run, and return the code of the driver. */
static int nvdla_tb_exit(int code)
{
    nvdla_tb_ask(NVDLA_TB_EXIT, 0, 0, (uint32_t)code, 0, 0, 0);
    close(nvdla_tb_socket);
    return code;
}

#endif
