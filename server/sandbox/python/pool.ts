// Warm interpreters: each is used once and then replaced, and none stays warm without recent use.
import { untilAborted } from '../../lib/abort.ts'
import { residentBytes } from '../resident-memory.ts'
import { type Interpreter, startInterpreter } from './interpreter.ts'
import type { Launcher } from './launch.ts'
import type { PythonSnapshots } from './snapshots.ts'

export interface PythonPool {
  /**
   * An unused interpreter; `onStarting` is called when none is ready at once. Rejects when none can be started or
   * `signal` is aborted.
   */
  acquire(signal: AbortSignal, onStarting: () => void): Promise<Interpreter>
  /** Kills all that are waiting. Those in use belong to their callers. */
  close(): Promise<void>
}

/** A warm interpreter, or one that is becoming warm. */
interface Place {
  interpreter: Promise<Interpreter>
  warm: boolean
  /** Ends a start in progress. */
  stop(): void
}

/**
 * `size` interpreters stay ready for `idleMs` after the last use. A call that finds none ready takes over the one that
 * has been starting for longest, else starts its own.
 */
export function createPythonPool(options: {
  launcher: Launcher
  snapshots: PythonSnapshots
  size: number
  idleMs: number
  log(message: string, details: object): void
}): PythonPool {
  const { launcher, snapshots } = options
  /** The longest waiting first. */
  let places: Place[] = []
  /** Released interpreters whose processes are about to end. */
  const abandoned = new Set<Promise<unknown>>()
  let closed = false
  let idleTimer: NodeJS.Timeout | undefined

  async function startWith(
    from: { library?: number | undefined; image?: number | undefined },
    signal: AbortSignal,
  ): Promise<Interpreter> {
    const interpreter = startInterpreter({ launcher, mode: 'serve', residentBytes, ...from })
    try {
      await untilAborted(interpreter.ready, signal)
      return interpreter
    } catch (error) {
      interpreter.kill()
      await interpreter.ended
      throw error
    }
  }

  /** As fast as the stored files allow; without them when they turn out not to work. */
  async function start(signal: AbortSignal): Promise<Interpreter> {
    const from = await snapshots.take()
    try {
      return await startWith({ library: from.library?.fd, image: from.image?.fd }, signal)
    } catch (error) {
      if (signal.aborted || from.library === null) throw error
      options.log('Python did not start from its memory image; starting plainly', { error })
      await snapshots.discard()
    } finally {
      await from.close()
    }
    return await startWith({}, signal)
  }

  function openPlace(): void {
    const end = new AbortController()
    const interpreter = start(end.signal)
    const place: Place = { interpreter, warm: false, stop: () => end.abort() }
    const leave = (): void => {
      places = places.filter((each) => each !== place)
    }
    interpreter.then(
      ({ ended }) => {
        place.warm = true
        void ended.then(leave)
      },
      (error: unknown) => {
        leave()
        if (!end.signal.aborted) options.log('no warm Python interpreter', { error })
      },
    )
    places.push(place)
  }

  /** The warm one that waited longest, else the one that will be warm first. */
  const takePlace = (): Place | undefined => {
    const place = places.find(({ warm }) => warm) ?? places[0]
    places = places.filter((each) => each !== place)
    return place
  }

  /** Another call's start that this call takes over; returned when the call is stopped meanwhile. */
  async function takeOver(place: Place, signal: AbortSignal): Promise<Interpreter | null> {
    try {
      return await untilAborted(place.interpreter, signal)
    } catch (error) {
      if (!signal.aborted) return null
      if (closed) drop(place)
      else places.unshift(place)
      throw error
    }
  }

  const drop = (place: Place): void => {
    place.stop()
    const gone = place.interpreter.then(
      async (interpreter) => {
        interpreter.kill()
        await interpreter.ended
      },
      () => {},
    )
    abandoned.add(gone)
    void gone.then(() => abandoned.delete(gone))
  }

  function letGo(): void {
    const all = places
    places = []
    all.forEach(drop)
  }

  function touch(): void {
    clearTimeout(idleTimer)
    if (closed) return
    idleTimer = setTimeout(letGo, options.idleMs)
    idleTimer.unref()
    while (places.length < options.size) openPlace()
    // Calls go first: images are for later.
    void Promise.allSettled(places.map(({ interpreter }) => interpreter)).then(() =>
      snapshots.fill(),
    )
  }

  return {
    async acquire(signal, onStarting) {
      if (closed) throw new Error('the server is shutting down')
      const place = takePlace()
      if (place?.warm !== true) onStarting()
      const started = place === undefined ? null : takeOver(place, signal)
      // The next one starts now, not when this one is ready, so that two concurrent calls both find one.
      if (place !== undefined) touch()
      try {
        return (await started) ?? (await start(signal))
      } finally {
        if (place === undefined) touch()
      }
    },
    async close() {
      closed = true
      clearTimeout(idleTimer)
      letGo()
      await snapshots.close()
      await Promise.all(abandoned)
    },
  }
}
