// How the body of a response gathers what arrives, and when nothing is read from its socket.
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type ByteSource,
  createBody,
  createSharedTicks,
  createSocketGate,
  TICK_MS,
} from '../../../../server/llm/streaming/provider-http/response-body.ts'

const GATHER_MS = 90

/** A body whose connection is played by the test: `arrive` delivers nothing while the gate is closed, as a socket would. */
function startBody(isCrowded: boolean, ticks = createSharedTicks()) {
  let isClosed = false
  let held = ''
  const gate = {
    close() {
      isClosed = true
    },
    open() {
      isClosed = false
      const text = held
      held = ''
      if (text !== '') body.push(Buffer.from(text))
    },
  }
  const body = createBody({
    controller: {
      pause() {},
      resume() {},
      paused: false,
      abort: (reason: Error) => body.end(reason),
    },
    gate,
    ticks,
    isCrowded: () => isCrowded,
  })
  return {
    body,
    source: body.source,
    isResting: () => isClosed,
    arrive(text: string) {
      held += text
      if (!isClosed) gate.open()
    },
  }
}

/** Reads once; `value` is undefined until the read has resolved. */
function readOf(source: ByteSource, gatherMs = GATHER_MS) {
  const read: { value: string | null | undefined } = { value: undefined }
  source.read(gatherMs).then(
    (parts) => {
      read.value = parts === null ? null : Buffer.concat(parts).toString()
    },
    (error: Error) => {
      read.value = error.message
    },
  )
  return read
}

describe('with a clock that the test moves', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }))
  afterEach(() => void vi.useRealTimers())

  /** Lets promises settle that wait for nothing else. */
  const settled = () => vi.advanceTimersByTimeAsync(0)

  /** A body that has been read twice, as in the middle of a long answer; the second read has just resolved. */
  async function startLong(isCrowded: boolean, ticks = createSharedTicks()) {
    const started = startBody(isCrowded, ticks)
    for (const text of ['first', 'second']) {
      const read = readOf(started.source)
      started.arrive(text)
      // The first read is due at once, the second at the end of the interval.
      if (text === 'second') await vi.advanceTimersToNextTimerAsync()
      await settled()
      expect(read.value).toBe(text)
    }
    return started
  }

  test('the first bytes of a response are read at once, however many responses there are', async () => {
    const { source, arrive, isResting } = startBody(true)
    const first = readOf(source)
    expect(isResting()).toBe(false)
    arrive('first')
    await settled()
    expect(first.value).toBe('first')
  })

  test('with few responses, the socket never pauses, and the pieces of one interval are read together', async () => {
    const { source, arrive, isResting } = await startLong(false)
    const read = readOf(source)
    for (const text of ['a', 'b', 'c']) {
      expect(isResting()).toBe(false)
      arrive(text)
      await vi.advanceTimersByTimeAsync(20)
    }
    expect(read.value).toBeUndefined()
    await vi.advanceTimersByTimeAsync(GATHER_MS - 3 * 20)
    expect(read.value).toBe('abc')
  })

  test('with many responses, nothing is read from the socket until the read is due', async () => {
    const { source, arrive, isResting } = await startLong(true)
    const read = readOf(source)
    expect(isResting()).toBe(true)
    arrive('a')
    arrive('b')
    await vi.advanceTimersByTimeAsync(GATHER_MS - TICK_MS - 1)
    expect(isResting()).toBe(true)
    await vi.advanceTimersByTimeAsync(TICK_MS + 1)
    expect(isResting()).toBe(false)
    expect(read.value).toBe('ab')
  })

  test('if nothing has arrived by then, the next bytes are read at once', async () => {
    const { source, arrive } = await startLong(true)
    const read = readOf(source)
    await vi.advanceTimersByTimeAsync(3 * GATHER_MS)
    expect(read.value).toBeUndefined()
    arrive('late')
    await settled()
    expect(read.value).toBe('late')
  })

  test('chunks that arrive in one read of the socket are read together, and the socket rests again afterwards', async () => {
    const { body, source, isResting } = await startLong(true)
    const read = readOf(source)
    await vi.advanceTimersByTimeAsync(GATHER_MS)
    expect(isResting()).toBe(false)
    for (const text of ['a', 'b', 'c']) body.push(Buffer.from(text))
    await settled()
    expect(read.value).toBe('abc')
    readOf(source)
    expect(isResting()).toBe(true)
  })

  test('a read that was late because nothing had arrived does not delay the next one', async () => {
    const { source, arrive } = await startLong(true)
    const late = readOf(source)
    await vi.advanceTimersByTimeAsync(GATHER_MS + 3 * TICK_MS)
    arrive('late')
    await settled()
    expect(late.value).toBe('late')
    const next = readOf(source)
    arrive('next')
    await vi.advanceTimersByTimeAsync(GATHER_MS - 3 * TICK_MS)
    expect(next.value).toBe('next')
  })

  test('many responses that begin together are read at different ticks of the interval, and share their timers', async () => {
    const ticks = createSharedTicks()
    const bodies = Array.from({ length: 18 }, () => startBody(true, ticks))
    for (const { source, arrive } of bodies) {
      const first = readOf(source)
      arrive('first')
      await settled()
      expect(first.value).toBe('first')
    }
    const before = vi.getTimerCount()
    const reads = bodies.map(({ source, arrive }) => {
      const read = readOf(source)
      arrive('next')
      return read
    })
    const tickCount = GATHER_MS / TICK_MS
    expect(vi.getTimerCount() - before).toBeLessThanOrEqual(tickCount)
    for (let tick = 1; tick <= tickCount; tick += 1) {
      const unread = reads.filter(({ value }) => value === undefined).length
      await vi.advanceTimersByTimeAsync(TICK_MS)
      const readNow = unread - reads.filter(({ value }) => value === undefined).length
      expect(readNow).toBeLessThanOrEqual(Math.ceil(bodies.length / tickCount))
    }
    expect(reads.every(({ value }) => value === 'next')).toBe(true)
  })

  test('a response aborted while its socket is paused rejects the read at once', async () => {
    const { source, isResting } = await startLong(true)
    const read = readOf(source)
    expect(isResting()).toBe(true)
    source.abort(new Error('stopped'))
    await settled()
    expect(read.value).toBe('stopped')
    expect(isResting()).toBe(false)
  })

  test('a connection that breaks while its socket is paused rejects the read at once', async () => {
    const { body, source } = await startLong(true)
    const read = readOf(source)
    body.end(new Error('reset'))
    await settled()
    expect(read.value).toBe('reset')
  })

  test('an immediate read resumes a paused socket, and so does releasing the response', async () => {
    const ticks = createSharedTicks()
    const { source, arrive, isResting } = await startLong(true, ticks)
    readOf(source)
    expect(isResting()).toBe(true)
    source.release()
    expect(isResting()).toBe(false)
    const other = await startLong(true, ticks)
    const read = readOf(other.source, 0)
    expect(other.isResting()).toBe(false)
    other.arrive('now')
    arrive('nobody reads it')
    await settled()
    expect(read.value).toBe('now')
  })
})

describe('a closed gate', () => {
  /** Both ends of a connection on loopback. */
  async function connected(): Promise<{ near: Socket; far: Socket; close(): void }> {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    const near = connect(address.port, '127.0.0.1')
    const [far] = (await once(server, 'connection')) as [Socket]
    return {
      near,
      far,
      close() {
        near.destroy()
        far.destroy()
        server.close()
      },
    }
  }
  const written = (socket: Socket, text: string) =>
    new Promise<void>((resolve) => socket.write(text, () => resolve()))

  test('leaves incoming bytes in the kernel, and reads all of them at once when it opens', async () => {
    const resting = await connected()
    const other = await connected()
    const received: string[] = []
    resting.near.on('data', (piece: Buffer) => received.push(piece.toString()))
    const before = once(resting.near, 'data')
    await written(resting.far, 'before')
    await before
    const gate = createSocketGate(resting.near)
    gate.close()
    for (const text of ['a', 'b', 'c']) {
      await written(resting.far, text)
      // Another connection is read meanwhile, so the event loop had time for this one as well.
      other.near.resume()
      const response = once(other.near, 'data')
      await written(other.far, text)
      await response
    }
    expect(received).toEqual(['before'])
    const after = once(resting.near, 'data')
    gate.open()
    await after
    expect(received).toEqual(['before', 'abc'])
    resting.close()
    other.close()
  })

  test('does not hold a destroyed socket, and does nothing without a socket', async () => {
    const { near, close } = await connected()
    const gate = createSocketGate(near)
    gate.close()
    near.destroy()
    gate.open()
    expect(near.destroyed).toBe(true)
    const none = createSocketGate(undefined)
    none.close()
    none.open()
    close()
  })
})
