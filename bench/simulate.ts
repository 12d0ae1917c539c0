// `npm run simulate`: a discrete-event simulation of instances on shared cores, fed with measured figures (bench/simulation/figures.json).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Figures } from './simulation/figures.ts'
import { plan } from './simulation/plan.ts'
import { simulateStreams } from './simulation/streams.ts'

const figures = Figures.parse(
  JSON.parse(readFileSync(join(import.meta.dirname, 'simulation/figures.json'), 'utf8')),
)
const { measured } = figures
const { single, two } = measured.tokensPerSecond
const percent = (error: number): string => `${error >= 0 ? '+' : ''}${(error * 100).toFixed(0)} %`

/** The number of threads of other programs that explains the speed of one process; used to predict two instances. */
function findBusyThreads(): number {
  let [few, many] = [0, 40]
  while (many - few > 0.05) {
    const middle = (few + many) / 2
    if (simulateStreams(figures, 1, middle) > single) few = middle
    else many = middle
  }
  return (few + many) / 2
}

const busy = findBusyThreads()
const predicted = simulateStreams(figures, 2, busy)
const error = predicted / two - 1
console.log(`Measured ${measured.at}, on ${measured.cores} cores.`)
console.log(
  `One process: ${single} tokens/s, which corresponds to ${busy.toFixed(1)} busy threads of other programs.`,
)
console.log(
  `Two instances: ${two} tokens/s measured, ${predicted.toFixed(0)} simulated (${percent(error)}).`,
)
console.log()
for (const users of [1_000, 10_000, 100_000, 1_000_000]) console.log(plan(figures, users))
if (Math.abs(error) > 0.2) {
  console.error('The simulation differs from the measurement by more than 20 %.')
  process.exit(1)
}
