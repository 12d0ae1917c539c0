// The `calculator` tool.
import { z } from 'zod'
import { errorText } from '../../errors.ts'
import { defineTool, fail, succeed, type ToolDefinition } from '../definition.ts'

const MAX_EXPRESSION = 500

const Input = z.object({
  expression: z
    .string()
    .min(1)
    .max(MAX_EXPRESSION)
    .describe('Arithmetic such as "(2 + 3) * 4^2 / 1.5e3". No names, no functions, no units.'),
})

export const calculator: ToolDefinition = defineTool({
  name: 'calculator',
  description:
    'Calculates an arithmetic expression exactly as written. Use it for every calculation instead of working it out yourself. ' +
    'Knows + - * / % (remainder, with the sign of the divisor), ^ or ** (power), parentheses, signs, decimal and exponent notation. ' +
    'It knows no functions and no names such as sqrt or pi: write 2^0.5 for a square root.',
  category: 'data',
  riskLevel: 'low',
  cacheable: true,
  timeoutMs: 5_000,
  input: Input,
  handler: async ({ expression }) => {
    try {
      const { calculate } = await import('./arithmetic.ts')
      const result = calculate(expression)
      if (!Number.isFinite(result))
        return fail('The result is not a finite number: a division by zero, or too large.')
      return succeed({ expression, result: result === 0 ? 0 : result })
    } catch (error) {
      return fail(`Can't calculate "${expression}": ${errorText(error)}`)
    }
  },
})
