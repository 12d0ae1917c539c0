// Evaluates arithmetic: mathjs parses it, and an allow-list decides which nodes of the tree are permitted.
import {
  create,
  type MathNode,
  type OperatorNode,
  type ParenthesisNode,
  parseDependencies,
} from 'mathjs/number'

/** Only the parser is loaded: loading all of mathjs takes longer than loading the rest of the server. */
const { parse } = create(parseDependencies ?? {})

/** Returns the value of an expression. Throws, with a message for the model, when it contains anything but arithmetic. */
export const calculate = (expression: string): number => numberOf(parse(normalise(expression)))

/** People also type full-width and typographic operators; `**` is another spelling of `^`. */
const normalise = (expression: string): string =>
  expression
    .normalize('NFKC')
    .replaceAll('×', '*')
    .replaceAll('÷', '/')
    .replaceAll('−', '-')
    .replaceAll('**', '^')

const refuse = (what: string): never => {
  throw new Error(`${what} not allowed; use only numbers, parentheses and + - * / % ^ **`)
}

const BINARY_OPERATORS = new Map<string, (left: number, right: number) => number>([
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
    const { value } = node as MathNode & { value: unknown } // `type` has just been checked
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
  const operate = BINARY_OPERATORS.get(fn)
  if (operate === undefined) return refuse(`The operator ${fn} is`)
  return operate(numberOf(left), numberOf(right))
}
