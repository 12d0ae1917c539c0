// Headers as a person types them: one `name: value` per line.

/** The names, in lower case, and values of the lines. Lines without a name are left out. */
export const headerLines = (typed: string): (readonly [name: string, value: string])[] =>
  typed.split('\n').flatMap((line) => {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase()
    return name === '' ? [] : [[name, line.slice(colon + 1).trim()] as const]
  })
