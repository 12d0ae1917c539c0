// Metrics of all processes that share a port: whichever is asked answers for all, each with a label of its own.
import cluster, { type Worker } from 'node:cluster'
import { z } from 'zod'
import { newId } from '../lib/ids.ts'

/** A process that does not answer in time is left out. */
const WAIT_MS = 2_000
const Id = z.string()
/** What the processes say to each other: a worker asks, the primary collects, each worker answers, the asker gets all. */
const Message = z.discriminatedUnion('nanoclaw', [
  z.object({ nanoclaw: z.literal('metrics_asked'), id: Id }),
  z.object({ nanoclaw: z.literal('metrics_wanted'), id: Id }),
  z.object({ nanoclaw: z.literal('metrics_given'), id: Id, text: z.string() }),
  z.object({ nanoclaw: z.literal('metrics_collected'), id: Id, texts: z.array(z.string()) }),
])
type Message = z.infer<typeof Message>

/** Lets the workers of this process collect their metrics. Call it in the process that starts them. */
export function relayMetrics(workers: () => readonly Worker[]): void {
  const collections = new Map<string, { texts: string[]; missing: Set<number>; end(): void }>()
  const sendTo = (worker: Worker, message: Message): void => {
    if (worker.isConnected()) worker.send(message, () => {}) // one that is ending needs no answer
  }
  cluster.on('message', (worker, raw: unknown) => {
    const { data } = Message.safeParse(raw)
    if (data?.nanoclaw === 'metrics_asked') {
      const { id } = data
      const asked = workers()
      const texts: string[] = []
      const end = (): void => {
        clearTimeout(timer)
        if (collections.delete(id)) sendTo(worker, { nanoclaw: 'metrics_collected', id, texts })
      }
      const timer = setTimeout(end, WAIT_MS)
      collections.set(id, { texts, missing: new Set(asked.map((one) => one.id)), end })
      for (const one of asked) sendTo(one, { nanoclaw: 'metrics_wanted', id })
    } else if (data?.nanoclaw === 'metrics_given') {
      const collection = collections.get(data.id)
      if (collection === undefined) return
      if (collection.missing.delete(worker.id)) collection.texts.push(data.text)
      if (collection.missing.size === 0) collection.end()
    }
  })
}

/** How a worker takes part. Null in a process that shares its port with no other. */
export function createWorkerMetrics(): {
  /** The value of the label `worker`: it is not used again after the process has ended. */
  worker: string
  /** The metrics of all workers. `own` reads those of this one, now and whenever another worker is asked. */
  collect(): Promise<string>
  answer(own: () => Promise<string>): void
} | null {
  const { worker } = cluster
  if (worker === undefined) return null
  const say = (message: Message): void => {
    if (worker.isConnected()) worker.send(message, () => {})
  }
  const waiting = new Map<string, (texts: string[]) => void>()
  let own = async (): Promise<string> => ''
  worker.on('message', (raw: unknown) => {
    const { data } = Message.safeParse(raw)
    if (data?.nanoclaw === 'metrics_collected') waiting.get(data.id)?.(data.texts)
    if (data?.nanoclaw === 'metrics_wanted')
      own().then(
        (text) => say({ nanoclaw: 'metrics_given', id: data.id, text }),
        () => undefined, // the primary stops waiting
      )
  })
  return {
    worker: String(worker.id),
    answer(read) {
      own = read
    },
    async collect() {
      const id = newId<string>()
      const texts = await new Promise<string[]>((resolve) => {
        const timer = setTimeout(resolve, WAIT_MS * 2, [])
        waiting.set(id, (found) => {
          clearTimeout(timer)
          resolve(found)
        })
        say({ nanoclaw: 'metrics_asked', id })
      })
      waiting.delete(id)
      return mergedMetrics(texts.length === 0 ? [await own()] : texts)
    },
  }
}

/** One text in the format of Prometheus, in which each metric has one description, whatever process has it. */
export function mergedMetrics(texts: readonly string[]): string {
  const metrics = new Map<string, { head: string; samples: string[] }>()
  for (const text of texts)
    for (const block of text.split(/^(?=# HELP )/m)) {
      const [, head, name = '', samples = ''] =
        /^(# HELP (\S+)[^\n]*\n# TYPE [^\n]*\n)([\s\S]*)$/.exec(block) ?? []
      if (head === undefined) continue
      const known = metrics.get(name)
      if (known === undefined) metrics.set(name, { head, samples: [samples.trim()] })
      else known.samples.push(samples.trim())
    }
  return [...metrics.values()]
    .map(({ head, samples }) => `${head}${samples.filter((one) => one !== '').join('\n')}\n`)
    .join('\n')
}
