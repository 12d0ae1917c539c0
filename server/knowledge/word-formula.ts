// Writes the formulas of Word documents (Office Math) as text in the syntax of TeX.
import { parseDocument } from 'htmlparser2'

/** The part of a parsed element that is read here. */
interface Node {
  readonly type: string
  readonly name?: string
  readonly data?: string
  readonly attribs?: Record<string, string>
  readonly children?: readonly Node[]
}

/** Deeper formulas are written without their structure. */
const MAX_DEPTH = 100
const ACCENTS: Readonly<Record<string, string>> = {
  '\u0302': 'hat',
  '\u0303': 'tilde',
  '\u0304': 'bar',
  '\u0305': 'overline',
  '\u0307': 'dot',
  '\u0308': 'ddot',
  '\u20d7': 'vec',
}

/** The formula in the XML of an `m:oMath`, such as `E=mc^{2}`. */
export function formulaText(xml: string): string {
  return inside(parseDocument(xml, { xmlMode: true, decodeEntities: true }), 0)
    .replaceAll(/\s+/g, ' ')
    .trim()
}

const nameOf = ({ name = '' }: Node): string => name.slice(name.indexOf(':') + 1)

const inside = (node: Node | undefined, depth: number): string =>
  (node?.children ?? []).map((child) => written(child, depth + 1)).join('')

const childOf = (node: Node, name: string): Node | undefined =>
  node.children?.find((child) => nameOf(child) === name)

const childrenOf = (node: Node, name: string): Node[] =>
  (node.children ?? []).filter((child) => nameOf(child) === name)

/** The value of a property of an element, such as the character of a sum. */
function property(node: Node, properties: string, name: string): string | undefined {
  const found = childOf(node, properties)
  const attributes = found === undefined ? undefined : childOf(found, name)?.attribs
  return Object.entries(attributes ?? {}).find(([key]) => key.endsWith('val'))?.[1]
}

function written(node: Node, depth: number): string {
  const name = nameOf(node)
  if (name.endsWith('Pr')) return ''
  if (name === 't') return (node.children ?? []).map(({ data = '' }) => data).join('')
  if (node.type === 'text') return ''
  const part = (child: string): string => inside(childOf(node, child), depth)
  const script = (mark: '^' | '_', child: string): string => {
    const text = part(child)
    return text === '' ? '' : `${mark}{${text}}`
  }
  if (depth > MAX_DEPTH) return inside(node, depth)
  switch (name) {
    case 'f':
      return `\\frac{${part('num')}}{${part('den')}}`
    case 'sSup':
      return `${part('e')}${script('^', 'sup')}`
    case 'sSub':
      return `${part('e')}${script('_', 'sub')}`
    case 'sSubSup':
      return `${part('e')}${script('_', 'sub')}${script('^', 'sup')}`
    case 'sPre':
      return `{}${script('_', 'sub')}${script('^', 'sup')}${part('e')}`
    case 'rad': {
      const degree = part('deg')
      return `\\sqrt${degree === '' ? '' : `[${degree}]`}{${part('e')}}`
    }
    case 'nary': {
      const sign = property(node, 'naryPr', 'chr') ?? '∫'
      return `${sign}${script('_', 'sub')}${script('^', 'sup')} ${part('e')}`
    }
    case 'd': {
      const [begin, end] = ['begChr', 'endChr'].map((key) => property(node, 'dPr', key))
      const parts = childrenOf(node, 'e').map((child) => inside(child, depth))
      return `${begin ?? '('}${parts.join(property(node, 'dPr', 'sepChr') ?? '|')}${end ?? ')'}`
    }
    case 'func':
      return `${part('fName')} ${part('e')}`
    case 'limLow':
      return `${part('e')}_{${part('lim')}}`
    case 'limUpp':
      return `${part('e')}^{${part('lim')}}`
    case 'acc':
      return `\\${ACCENTS[property(node, 'accPr', 'chr') ?? '\u0302'] ?? 'hat'}{${part('e')}}`
    case 'bar':
      return `\\${property(node, 'barPr', 'pos') === 'top' ? 'over' : 'under'}line{${part('e')}}`
    case 'm': {
      const rows = childrenOf(node, 'mr').map((row) =>
        childrenOf(row, 'e')
          .map((cell) => inside(cell, depth))
          .join(' & '),
      )
      return `\\begin{matrix} ${rows.join(' \\\\ ')} \\end{matrix}`
    }
    case 'eqArr':
      return childrenOf(node, 'e')
        .map((line) => inside(line, depth))
        .join(' \\\\ ')
    default:
      return inside(node, depth)
  }
}
