// URI templates (RFC 6570): addresses with variables. Lists and objects as values are not supported.

interface Operator {
  /** Precedes the first value, and separates values. */
  first: string
  separator: string
  /** Whether each value follows its name. */
  isNamed: boolean
  /** Whether characters with a meaning in URIs stay unencoded. */
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
/** A name, and how many characters of its value are used. */
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

/** The variables in order, each once. Those of a query are optional. */
export function variablesOf(template: string): { name: string; required: boolean }[] {
  const found = new Map<string, boolean>()
  for (const [, sign = '', list = ''] of template.matchAll(EXPRESSION))
    for (const { name } of readExpression(sign, list).variables)
      found.set(name, found.get(name) === true || !'?&;#'.includes(sign) || sign === '')
  return [...found].map(([name, required]) => ({ name, required }))
}

/** Fills in the values. Variables without a value are omitted. */
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

/** Parts that are already percent-encoded stay unchanged. */
const encodeKeeping = (value: string): string =>
  encodeURI(wellFormed(value))
    .replaceAll(/%25([\da-f]{2})/gi, '%$1')
    .replaceAll('%5B', '[')
    .replaceAll('%5D', ']')
