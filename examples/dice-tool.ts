// A tool in one file: one declaration defines what the model sees, how arguments are validated and what the tool does.
import { randomInt } from 'node:crypto'
import { z } from 'zod'
import { defineTool, fail, succeed } from '../server/tools/definition.ts'

export const rollDice = defineTool({
  name: 'roll_dice',
  // Written for the model: what the tool does and when to use it.
  description:
    'Rolls dice and returns each roll and the sum. Use it whenever a random result is needed.',
  category: 'games',
  // `low` runs immediately; by default, `medium` (the default level) and `high` require approval.
  riskLevel: 'low',
  // Results are never reused: every roll is new.
  cacheable: false,
  timeoutMs: 5_000,
  // One zod object defines the JSON Schema for the model, the validation of arguments and the types below.
  input: z.object({
    count: z.int().min(1).max(100).default(1).describe('Number of dice.'),
    sides: z.int().min(2).max(1000).default(6).describe('Sides per die.'),
    keep: z.int().min(1).optional().describe('Number of highest rolls to sum; default: all.'),
  }),
  // `data` is for the model, the artifact for the person. Expected failures are returned, not thrown.
  handler: async ({ count, sides, keep }) => {
    if (keep !== undefined && keep > count) return fail(`keep can be at most ${count}.`)
    const rolls = Array.from({ length: count }, () => randomInt(1, sides + 1))
    const kept = [...rolls].sort((a, b) => b - a).slice(0, keep)
    const sum = kept.reduce((total, roll) => total + roll, 0)
    return succeed({ rolls, kept, sum }, { display: `🎲 ${rolls.join(', ')} → ${sum}` })
  },
})
