// Lets processes run alternately for a part of the time, as if each had that part of a core: `hold-back.ts <part> <pid> …`.

const [part = '1', ...pids] = process.argv.slice(2)
const PERIOD_MS = 15
const never = new Int32Array(new SharedArrayBuffer(4))
/** Blocks this process, which is more exact than a timer; it has nothing else to do. */
const sleep = (ms: number): unknown => Atomics.wait(never, 0, 0, ms)

for (const pid of pids) process.kill(Number(pid), 'SIGSTOP')
// `startProgram` waits for this line; there is no port.
process.stdout.write('{"port":0}\n')
// Ends by SIGKILL, or when one of the processes ends; the starter then resumes them. Each process has a separate turn, so
// the other programs get the same share however many there are.
for (;;)
  for (const pid of pids) {
    process.kill(Number(pid), 'SIGCONT')
    sleep(PERIOD_MS * Number(part))
    process.kill(Number(pid), 'SIGSTOP')
    sleep(PERIOD_MS * (1 / pids.length - Number(part)))
  }
