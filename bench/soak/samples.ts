// The values that the soak measures in the server process, and their growth.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Measured } from '../processes/start.ts'

export interface Sample {
  'memory MB': number
  /** Open file descriptors other than sockets. */
  handles: number
  sockets: number
  /** Child processes. */
  processes: number
  timers: number
}

/** Reads /proc and the server's own metrics; needs Linux. */
export async function sampleOf(server: Measured, url: string): Promise<Sample> {
  const folder = `/proc/${server.pid}/fd`
  const targets = readdirSync(folder).map((name) => {
    try {
      return readlinkSync(`${folder}/${name}`)
    } catch {
      // It was closed in between.
      return ''
    }
  })
  const sockets = targets.filter((target) => target.startsWith('socket:')).length
  const open = targets.filter((target) => target !== '').length
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const timers = /^nodejs_active_resources\{type="Timeout"\} (\d+)/m.exec(metrics)?.[1]
  return {
    'memory MB': server.memory(),
    handles: open - sockets,
    sockets,
    processes: childrenOf(server.pid),
    timers: Number(timers ?? 0),
  }
}

function childrenOf(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`)
  return tasks.reduce((count, task) => {
    const children = readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim()
    return count + (children === '' ? 0 : children.split(' ').length)
  }, 0)
}

/** The slope of the straight line through the points (minutes, value), by least squares. */
export function slopePerMinute(points: readonly (readonly [number, number])[]): number {
  const count = points.length
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / count
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / count
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  const below = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  return below === 0 ? 0 : above / below
}
