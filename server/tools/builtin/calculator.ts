// The `calculator` tool: arithmetic by mathjs' parser with an allow-list of what its tree may hold.
import { type MathNode, type OperatorNode, type ParenthesisNode, parse } from 'mathjs/number'
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
      const result = numberOf(parse(normalise(expression)))
      if (!Number.isFinite(result))
        return fail('The result is not a finite number: a division by zero, or too large.')
      return succeed({ expression, result: result === 0 ? 0 : result })
    } catch (error) {
      return fail(`Can't calculate "${expression}": ${errorText(error)}`)
    }
  },
})

/** Full-width and typographic signs are what people type in other languages; `**` is the other spelling of `^`. */
const normalise = (expression: string): string =>
  expression
    .normalize('NFKC')
    .replaceAll('×', '*')
    .replaceAll('÷', '/')
    .replaceAll('−', '-')
    .replaceAll('**', '^')

const refuse = (what: string): never => {
  throw new Error(`${what} not allowed; only numbers, parentheses and + - * / % ^ ** can be used`)
}

const binary = new Map<string, (left: number, right: number) => number>([
  ['add', (left, right) => left + right],
  ['subtract', (left, right) => left - right],
  ['multiply', (left, right) => left * right],
  ['divide', (left, right) => left / right],
  ['pow', (left, right) => left ** right],
  // The remainder has the sign of the divisor, as in Python and in written mathematics.
  ['mod', (left, right) => left - right * Math.floor(left / right)],
])

function numberOf(node: MathNode): number {
  if (node.type === 'ConstantNode') {
    const { value } = node as MathNode & { value: unknown } // the type says what `type` has just said
    return typeof value === 'number' ? value : refuse(`The value ${node.toString()} is`)
  }
  if (node.type === 'ParenthesisNode') return numberOf((node as ParenthesisNode).content)
  if (node.type !== 'OperatorNode') return refuse(`"${node.toString().slice(0, 50)}" is`)
  const { fn, args, implicit } = node as OperatorNode & { implicit: boolean }
  const [left, right] = args
  if (left === undefined || implicit) return refuse('A product without * is')
  if (right === undefined) {
    if (fn === 'unaryMinus') return -numberOf(left)
    if (fn === 'unaryPlus') return numberOf(left)
    return refuse(`"${node.toString().slice(0, 50)}" is`)
  }
  const operate = binary.get(fn)
  if (operate === undefined) return refuse(`The operator ${fn} is`)
  return operate(numberOf(left), numberOf(right))
}
