// Lets processes run in turns and for a part of the time only, as if each had that part of a core: `hold-back.ts <part> <pid> …`.

const [part = '1', ...pids] = process.argv.slice(2)
const PERIOD_MS = 15
const never = new Int32Array(new SharedArrayBuffer(4))
/** Blocks this process, which has nothing else to do, more exactly than a timer. */
const sleep = (ms: number): unknown => Atomics.wait(never, 0, 0, ms)

for (const pid of pids) process.kill(Number(pid), 'SIGSTOP')
// What `startProgram` waits for; there is no port.
process.stdout.write('{"port":0}\n')
// Ends by SIGKILL, or when one of the processes is gone; whoever started it lets them go on. Each has a turn of its own, so that
// what the others need beside it is the same however many there are.
for (;;)
  for (const pid of pids) {
    process.kill(Number(pid), 'SIGCONT')
    sleep(PERIOD_MS * Number(part))
    process.kill(Number(pid), 'SIGSTOP')
    sleep(PERIOD_MS * (1 / pids.length - Number(part)))
  }
