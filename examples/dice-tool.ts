// A tool in one file: one declaration says what the model is told, what is checked and what is done.
import { randomInt } from 'node:crypto'
import { z } from 'zod'
import { defineTool, fail, succeed } from '../server/tools/definition.ts'

export const rollDice = defineTool({
  name: 'roll_dice',
  // Written for the model: what it does, and when to use it.
  description: 'Rolls dice and answers each roll and the sum. Use it whenever chance is asked for.',
  category: 'games',
  // `low` runs at once; `medium` (the default) and `high` ask the person first.
  riskLevel: 'low',
  // Never answered from the cache: every roll is a new one.
  cacheable: false,
  timeoutMs: 5_000,
  // One zod object: the JSON Schema for the model, the check of its arguments and the types below.
  input: z.object({
    count: z.int().min(1).max(100).default(1).describe('How many dice.'),
    sides: z.int().min(2).max(1000).default(6).describe('How many sides each of them has.'),
    keep: z.int().min(1).optional().describe('Count only this many of the highest rolls.'),
  }),
  // `data` is for the model, the artifact for the person. What can go wrong is answered, not thrown.
  handler: async ({ count, sides, keep }) => {
    if (keep !== undefined && keep > count) return fail(`keep can be at most ${count}.`)
    const rolls = Array.from({ length: count }, () => randomInt(1, sides + 1))
    const kept = [...rolls].sort((a, b) => b - a).slice(0, keep)
    const sum = kept.reduce((total, roll) => total + roll, 0)
    return succeed({ rolls, kept, sum }, { display: `🎲 ${rolls.join(', ')} → ${sum}` })
  },
})
