// The `calculator` tool.
import { z } from 'zod'
import { errorText } from '../../../errors.ts'
import { defineTool, fail, succeed, type ToolDefinition } from '../../definition.ts'

const MAX_EXPRESSION = 500

const Input = z.object({
  expression: z
    .string()
    .min(1)
    .max(MAX_EXPRESSION)
    .describe('For example "(2 + 3) * 4^2 / 1.5e3".'),
})

export const calculator: ToolDefinition = defineTool({
  name: 'calculator',
  description:
    'Evaluates an arithmetic expression. Use it for every calculation instead of doing arithmetic yourself. ' +
    'Supports + - * / % (remainder with the sign of the divisor), ^ or ** (power), parentheses, decimals and exponents. ' +
    'No functions, names (sqrt, pi) or units; write 2^0.5 for a square root.',
  category: 'data',
  riskLevel: 'low',
  cacheable: true,
  timeoutMs: 5_000,
  input: Input,
  handler: async ({ expression }) => {
    try {
      const { calculate } = await import('./calculator/arithmetic.ts')
      const result = calculate(expression)
      if (!Number.isFinite(result))
        return fail('The result is not a finite number (division by zero or overflow).')
      return succeed({ expression, result: result === 0 ? 0 : result })
    } catch (error) {
      // The parser needs about 4 KB of stack for each level: a depth of 200 fits in every supported Node.
      if (error instanceof RangeError)
        return fail('The expression is nested too deeply: calculate its inner parts first.')
      return fail(`Can't calculate "${expression}": ${errorText(error)}`)
    }
  },
})
