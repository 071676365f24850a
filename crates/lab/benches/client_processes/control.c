/* Point selects on a table of sysbench by processes or threads: `control FILE ROWS SECONDS CLIENTS
   processes|threads` prints the operations done and the processor seconds that they took. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sqlite3.h"

enum { CLIENTS_MAX = 64, CACHE_LINE = 16 };

static const char *file;
static unsigned rows;
static volatile int *stopped;
static volatile long *counts;

static void fail(sqlite3 *database) {
  fprintf(stderr, "%s\n", sqlite3_errmsg(database));
  _exit(1);
}

static void *work(void *argument) {
  long client = (long)argument;
  long count = 0;
  unsigned random = 7919 * (client + 1);
  sqlite3 *database;
  sqlite3_stmt *statement;
  if (sqlite3_open_v2(file, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, 0)) fail(database);
  /* The first to open the file and the last to close it hold it for a moment. */
  sqlite3_busy_timeout(database, 5000);
  if (sqlite3_exec(database, "PRAGMA cache_size = -8192", 0, 0, 0)) fail(database);
  if (sqlite3_prepare_v2(database, "SELECT c FROM sbtest1 WHERE id = ?", -1, &statement, 0)) fail(database);
  while (!*stopped) {
    random = random * 1103515245u + 12345u;
    sqlite3_bind_int(statement, 1, 1 + (random >> 8) % rows);
    if (sqlite3_step(statement) != SQLITE_ROW) fail(database);
    if (!sqlite3_column_text(statement, 0)) fail(database);
    if (sqlite3_step(statement) != SQLITE_DONE) fail(database);
    sqlite3_reset(statement);
    count++;
  }
  counts[client * CACHE_LINE] = count;
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return 0;
}

static double seconds_of(int who) {
  struct rusage used;
  getrusage(who, &used);
  return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

int main(int words, char **word) {
  if (words != 6) return 2;
  file = word[1];
  rows = strtoul(word[2], 0, 10);
  long seconds = strtol(word[3], 0, 10), clients = strtol(word[4], 0, 10);
  int processes = !strcmp(word[5], "processes");
  if (clients < 1 || clients > CLIENTS_MAX || rows < 1) return 2;
  size_t bytes = (CLIENTS_MAX + 1) * CACHE_LINE * sizeof(long);
  long *shared = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  stopped = (volatile int *)shared;
  counts = shared + CACHE_LINE;
  pthread_t threads[CLIENTS_MAX];
  for (long client = 0; client < clients; client++) {
    if (!processes) {
      pthread_create(&threads[client], 0, work, (void *)client);
    } else if (!fork()) {
      work((void *)client);
      _exit(0);
    }
  }
  sleep(seconds);
  *stopped = 1;
  int status = 0;
  for (long client = 0; client < clients; client++) {
    if (!processes) pthread_join(threads[client], 0);
    else if (wait(&status) < 0 || status) return 1;
  }
  long sum = 0;
  for (long client = 0; client < clients; client++) sum += counts[client * CACHE_LINE];
  printf("%ld %.6f\n", sum, seconds_of(processes ? RUSAGE_CHILDREN : RUSAGE_SELF));
  return 0;
}
