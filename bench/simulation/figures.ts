// Input of the simulation: figures of `npm run bench`, and estimates for everything not measured yet.
import { z } from 'zod'

export const Figures = z.object({
  measured: z.object({
    at: z.string(),
    cores: z.int().min(1),
    streamsPerInstance: z.int(),
    tokensPerSecond: z.object({ single: z.number(), two: z.number() }),
  }),
  /** Microseconds of CPU for each token of answers that stream as fast as they can. Of `postgres` and `redis`: estimated. */
  tokenUs: z.object({
    instance: z.number(),
    clusteredInstance: z.number(),
    upstream: z.number(),
    client: z.number(),
    postgres: z.number(),
    redis: z.number(),
  }),
  /** Microseconds of CPU, and counts, of one message with its answer (docs/benchmarks.md). Of PostgreSQL and Redis: estimated. */
  answer: z.object({
    instanceUs: z.number(),
    postgresUs: z.number(),
    statements: z.number(),
    /** Statements for each second in which text arrives, before the group commit. */
    statementsPerSecond: z.number(),
    redisCommandsPerSecond: z.number(),
    redisUs: z.number(),
  }),
  /** Microseconds of CPU for each token of many streams at 30 to 50 tokens/s. */
  steadyTokenUs: z.number(),
  /** Megabytes of an idle instance, and of each stream that it serves (estimated). */
  memory: z.object({ instance: z.number(), stream: z.number() }),
})
export type Figures = z.infer<typeof Figures>
