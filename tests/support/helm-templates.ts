// Renders the Helm chart without Helm: the part of Go's templates and of Helm's functions that the chart uses, nothing else.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

type Node =
  | { kind: 'text'; text: string }
  | { kind: 'value'; source: string }
  | { kind: 'block'; word: 'if' | 'with'; branches: { source: string | null; body: Node[] }[] }

interface Scope {
  dot: unknown
  root: unknown
  variables: Map<string, unknown>
}

/** Texts and actions; `{{-` and `-}}` trim the white space beside them. */
function tokensOf(template: string): { isAction: boolean; text: string }[] {
  const tokens: { isAction: boolean; text: string }[] = []
  let rest = template
  let trimsNext = false
  for (;;) {
    const open = /\{\{(-\s)?/.exec(rest)
    const before = open === null ? rest : rest.slice(0, open.index)
    const text = trimsNext ? before.trimStart() : before
    tokens.push({ isAction: false, text: open?.[1] === undefined ? text : text.trimEnd() })
    if (open === null) return tokens
    const start = open.index + open[0].length
    const close = /(\s-)?\}\}/.exec(rest.slice(start))
    if (close === null) throw new Error(`An action does not end: ${rest.slice(open.index)}`)
    tokens.push({ isAction: true, text: rest.slice(start, start + close.index).trim() })
    trimsNext = close[1] !== undefined
    rest = rest.slice(start + close.index + close[0].length)
  }
}

function parseTemplate(name: string, template: string, defined: Map<string, Node[]>): Node[] {
  const tokens = tokensOf(template)
  let position = 0
  const body = (ends: readonly string[]): { nodes: Node[]; end: string } => {
    const nodes: Node[] = []
    while (position < tokens.length) {
      const { isAction, text } = tokens[position++] ?? { isAction: false, text: '' }
      if (!isAction) nodes.push({ kind: 'text', text })
      else if (text.startsWith('/*')) continue
      else if (ends.some((end) => text === end || text.startsWith(`${end} `)))
        return { nodes, end: text }
      else if (text.startsWith('define ')) defined.set(text.slice(8, -1), body(['end']).nodes)
      else if (/^(?:if|with) /.test(text)) {
        const word = text.startsWith('if') ? ('if' as const) : ('with' as const)
        const branches: { source: string | null; body: Node[] }[] = []
        for (let source: string | null = text.slice(word.length); ; ) {
          const { nodes: inner, end } = body(['else', 'end'])
          branches.push({ source, body: inner })
          if (end === 'end') break
          source = end === 'else' ? null : end.slice('else if'.length)
        }
        nodes.push({ kind: 'block', word, branches })
      } else nodes.push({ kind: 'value', source: text })
    }
    if (ends.length > 0) throw new Error(`${name}: a block has no end`)
    return { nodes, end: '' }
  }
  return body([]).nodes
}

const isTrue = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : typeof value === 'object' && value !== null
      ? Object.keys(value).length > 0
      : Boolean(value)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : String(value))

const indented = (spaces: unknown, text: unknown): string =>
  textOf(text)
    .split('\n')
    .map((line) => ' '.repeat(Number(spaces)) + line)
    .join('\n')

/** Values of the second fill what the first lacks. */
function merged(first: unknown, second: unknown): unknown {
  if (typeof first !== 'object' || first === null || Array.isArray(first)) return first ?? second
  const found: Record<string, unknown> = { ...(second as object) }
  for (const [key, value] of Object.entries(first)) found[key] = merged(value, found[key])
  return found
}

type Functions = Record<string, (...values: unknown[]) => unknown>

const FUNCTIONS: Functions = {
  quote: (value) => JSON.stringify(textOf(value)),
  toYaml: (value) => stringify(value, { lineWidth: 0 }).trimEnd(),
  nindent: (spaces, text) => `\n${indented(spaces, text)}`,
  default: (fallback, value) => (isTrue(value) ? value : fallback),
  required: (message, value) => {
    if (!isTrue(value)) throw new Error(textOf(message))
    return value
  },
  fail: (message) => {
    throw new Error(textOf(message))
  },
  printf: (format, ...values) => textOf(format).replaceAll('%s', () => textOf(values.shift())),
  trunc: (length, text) => textOf(text).slice(0, Number(length)),
  trimSuffix: (end, text) =>
    textOf(text).endsWith(textOf(end)) ? textOf(text).slice(0, -textOf(end).length) : text,
  sha256sum: () => 'a'.repeat(64),
  add: (one, other) => Number(one) + Number(other),
  int: Number,
  eq: (one, other) => one === other,
  ne: (one, other) => one !== other,
  gt: (one, other) => Number(one) > Number(other),
  not: (value) => !isTrue(value),
  and: (...values) => values.find((value) => !isTrue(value)) ?? values.at(-1),
  has: (value, list) => Array.isArray(list) && list.includes(value),
  list: (...values) => values,
  dict: (...values) =>
    Object.fromEntries(
      values.flatMap((key, index) => (index % 2 === 0 ? [[textOf(key), values[index + 1]]] : [])),
    ),
  set: (target, key, value) => Object.assign(target as object, { [textOf(key)]: value }),
  ternary: (one, other, condition) => (isTrue(condition) ? one : other),
  merge: merged,
  deepCopy: (value) => structuredClone(value),
}

/** Renders the chart with values over its own. @returns the objects by file. @throws what `fail` and `required` say. */
export function renderChart(folder: string, changes: Record<string, unknown>): unknown[] {
  const own: unknown = parse(readFileSync(join(folder, 'values.yaml'), 'utf8'))
  const { name, version, appVersion } = parse(readFileSync(join(folder, 'Chart.yaml'), 'utf8'))
  const root = {
    Values: merged(changes, own),
    Chart: { Name: name, Version: version, AppVersion: appVersion },
    Release: { Name: 'chat', Namespace: 'default', Service: 'Helm' },
  }
  const defined = new Map<string, Node[]>()
  const templates = join(folder, 'templates')
  const files = readdirSync(templates)
    .sort()
    .map(
      (file) =>
        [file, parseTemplate(file, readFileSync(join(templates, file), 'utf8'), defined)] as const,
    )

  const lookUp = (from: unknown, path: string): unknown =>
    path
      .split('.')
      .filter((part) => part !== '')
      .reduce<unknown>((value, part) => {
        if (typeof value !== 'object' || value === null || !(part in value))
          throw new Error(`There is no ${path}`)
        return Reflect.get(value, part)
      }, from)

  function evaluate(source: string, scope: Scope): unknown {
    const words = source.match(/"(?:[^"\\]|\\.)*"|[()|]|[^\s()|]+/g) ?? []
    let position = 0
    const operand = (): unknown => {
      const word = words[position++] ?? ''
      if (word === '(') {
        const value = pipeline()
        position += 1
        return value
      }
      if (word.startsWith('"')) return JSON.parse(word)
      if (/^-?\d+$/.test(word)) return Number(word)
      if (word.startsWith('$.')) return lookUp(scope.root, word.slice(1))
      if (word.startsWith('$')) {
        if (!scope.variables.has(word)) throw new Error(`There is no ${word}`)
        return scope.variables.get(word)
      }
      if (word === '.') return scope.dot
      if (word.startsWith('.')) return lookUp(scope.dot, word)
      throw new Error(`Unknown: ${word} in ${source}`)
    }
    const call = (last: readonly unknown[]): unknown => {
      const word = words[position] ?? ''
      if (!/^[a-zA-Z]\w*$/.test(word)) return operand()
      position += 1
      const values: unknown[] = []
      while (position < words.length && words[position] !== ')' && words[position] !== '|')
        values.push(operand())
      if (word === 'include') {
        const body = defined.get(textOf(values[0]))
        if (body === undefined) throw new Error(`There is no template ${values[0]}`)
        return run(body, { dot: values[1], root: values[1], variables: new Map() })
      }
      const found = FUNCTIONS[word]
      if (found === undefined) throw new Error(`There is no function ${word}`)
      return found(...values, ...last)
    }
    function pipeline(): unknown {
      let value = call([])
      while (words[position] === '|') {
        position += 1
        value = call([value])
      }
      return value
    }
    return pipeline()
  }

  function run(nodes: readonly Node[], scope: Scope): string {
    return nodes
      .map((node) => {
        if (node.kind === 'text') return node.text
        if (node.kind === 'block') {
          for (const { source, body } of node.branches) {
            const value = source === null ? true : evaluate(source, scope)
            if (!isTrue(value)) continue
            const dot = node.word === 'with' && source !== null ? value : scope.dot
            return run(body, { ...scope, dot })
          }
          return ''
        }
        const [, variable, expression] = /^(\$\w*)\s*:=\s*(.*)$/s.exec(node.source) ?? []
        if (variable === undefined || expression === undefined)
          return textOf(evaluate(node.source, scope))
        scope.variables.set(variable, evaluate(expression, scope))
        return ''
      })
      .join('')
  }

  return files
    .filter(([file]) => file.endsWith('.yaml'))
    .flatMap(([, nodes]) => {
      const text = run(nodes, { dot: root, root, variables: new Map() })
      return text
        .split(/^---$/m)
        .map((part): unknown => parse(part, { strict: true, uniqueKeys: true }))
        .filter((one) => one !== null)
    })
}
