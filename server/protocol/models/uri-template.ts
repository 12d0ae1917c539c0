// URI templates (RFC 6570): addresses with places for values. Lists and objects as values do not occur.

interface Operator {
  /** Before the first value, and between two. */
  first: string
  separator: string
  /** Each value follows its name. */
  isNamed: boolean
  /** Characters with a meaning in URIs stay. */
  keepsReserved: boolean
}

const operator = (
  first: string,
  separator: string,
  { isNamed = false, keepsReserved = false } = {},
): Operator => ({ first, separator, isNamed, keepsReserved })

const OPERATORS: Readonly<Record<string, Operator>> = {
  '': operator('', ','),
  '+': operator('', ',', { keepsReserved: true }),
  '#': operator('#', ',', { keepsReserved: true }),
  '.': operator('.', '.'),
  '/': operator('/', '/'),
  ';': operator(';', ';', { isNamed: true }),
  '?': operator('?', '&', { isNamed: true }),
  '&': operator('&', '&', { isNamed: true }),
}

const EXPRESSION = /\{([+#./;?&]?)([^{}]*)\}/g
/** A name, and how many characters of its value count. */
const VARIABLE = /^((?:[\w.-]|%[\da-f]{2})+)(?:\*|:(\d{1,4}))?$/i

interface Expression {
  sign: string
  variables: { name: string; length: number | undefined }[]
}

const readExpression = (sign: string, list: string): Expression => ({
  sign,
  variables: list.split(',').flatMap((part) => {
    const [, name, length] = VARIABLE.exec(part.trim()) ?? []
    return name === undefined
      ? []
      : [{ name, length: length === undefined ? undefined : Number(length) }]
  }),
})

/** Whether every brace belongs to an expression with readable variables. */
export function isUriTemplate(template: string): boolean {
  if (/[{}]/.test(template.replaceAll(EXPRESSION, ''))) return false
  return [...template.matchAll(EXPRESSION)].every(
    ([, sign = '', list = '']) =>
      readExpression(sign, list).variables.length === list.split(',').length,
  )
}

/** The variables in their order, each once. Those of a query may be left out. */
export function variablesOf(template: string): { name: string; required: boolean }[] {
  const found = new Map<string, boolean>()
  for (const [, sign = '', list = ''] of template.matchAll(EXPRESSION))
    for (const { name } of readExpression(sign, list).variables)
      found.set(name, found.get(name) === true || !'?&;#'.includes(sign) || sign === '')
  return [...found].map(([name, required]) => ({ name, required }))
}

/** The address with these values; a variable without a value is left out. */
export const expandUriTemplate = (
  template: string,
  values: Readonly<Record<string, string>>,
): string =>
  template.replaceAll(EXPRESSION, (_whole, sign: string, list: string) => {
    const { first, separator, isNamed, keepsReserved } = OPERATORS[sign] ?? operator('', ',')
    const parts = readExpression(sign, list).variables.flatMap(({ name, length }) => {
      if (!Object.hasOwn(values, name)) return []
      const value = [...(values[name] ?? '')].slice(0, length).join('')
      const encoded = keepsReserved ? encodeKeeping(value) : encodeAll(value)
      if (!isNamed) return [encoded]
      return [encoded === '' && sign === ';' ? name : `${name}=${encoded}`]
    })
    return parts.length === 0 ? '' : first + parts.join(separator)
  })

/** Half of a character cannot be encoded. */
const wellFormed = (value: string): string => value.replaceAll(/\p{Surrogate}/gu, '\ufffd')

const encodeAll = (value: string): string =>
  encodeURIComponent(wellFormed(value)).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** What is percent-encoded already stays, too. */
const encodeKeeping = (value: string): string =>
  encodeURI(wellFormed(value))
    .replaceAll(/%25([\da-f]{2})/gi, '%$1')
    .replaceAll('%5B', '[')
    .replaceAll('%5D', ']')
