// Reads commands from the server and writes events to it, synchronously, over inherited descriptors.
import { fstatSync, readSync, writeSync } from 'node:fs'

const COMMANDS = 0
const EVENTS = 3

const sleepCell = new Int32Array(new SharedArrayBuffer(4))

/** Writes all of `bytes`: waits while the pipe is full, exits when it is closed. */
export function writeAll(descriptor, bytes) {
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(descriptor, bytes, offset)
    } catch (error) {
      if (error.code !== 'EAGAIN') process.reallyExit(1)
      Atomics.wait(sleepCell, 0, 0, 2)
    }
  }
}

/** Sends one event to the server. */
export const send = (message) => writeAll(EVENTS, Buffer.from(`${JSON.stringify(message)}\n`))

let pending = Buffer.alloc(0)
const readBuffer = Buffer.alloc(64 * 1024)
/** Reads one command per line; exits at the end of the stream, because the server is gone. */
export function nextCommand() {
  for (;;) {
    const end = pending.indexOf(10)
    if (end >= 0) {
      const line = pending.toString('utf8', 0, end)
      pending = pending.subarray(end + 1)
      return JSON.parse(line)
    }
    let count = 0
    try {
      count = readSync(COMMANDS, readBuffer)
    } catch (error) {
      if (error.code !== 'EAGAIN') process.reallyExit(1)
      Atomics.wait(sleepCell, 0, 0, 2)
      continue
    }
    if (count === 0) process.reallyExit(0)
    pending = Buffer.concat([pending, readBuffer.subarray(0, count)])
  }
}

/** Reads a whole file from its descriptor. */
export function readAll(descriptor) {
  const bytes = Buffer.allocUnsafeSlow(fstatSync(descriptor).size)
  for (let offset = 0; offset < bytes.length; ) {
    const count = readSync(descriptor, bytes, offset, bytes.length - offset, offset)
    if (count === 0) throw new Error('A file needed to start is truncated')
    offset += count
  }
  return bytes
}
