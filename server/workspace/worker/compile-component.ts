// Compiles a component (JSX, TypeScript) into a module for browsers; lines stay where they are, so that faults name those of the file.
import { type ParserOptions, parse } from '@babel/parser'
import { type Transform, transform } from 'sucrase'

/** A module that a component names at its top. */
export interface ComponentImport {
  specifier: string
  line: number
}

/** `line` is null if the fault has none. */
export type CompiledComponent =
  | { ok: true; code: string; imports: ComponentImport[]; hasDefault: boolean }
  | { ok: false; message: string; line: number | null }

type Language = { plugins: NonNullable<ParserOptions['plugins']>; transforms: Transform[] }
/** In plain JavaScript, the syntax of types would make other things of `<` and `>`. */
const LANGUAGES: Readonly<Record<string, Language>> = {
  jsx: { plugins: ['jsx'], transforms: ['jsx'] },
  tsx: { plugins: ['jsx', 'typescript'], transforms: ['jsx', 'typescript'] },
  ts: { plugins: ['typescript'], transforms: ['typescript'] },
}

/** @param path its extension says the language. */
export function compileComponent({
  path,
  source,
}: {
  path: string
  source: string
}): CompiledComponent {
  const language = LANGUAGES[path.slice(path.lastIndexOf('.') + 1).toLowerCase()]
  if (language === undefined) return { ok: false, message: 'This is no component.', line: null }
  try {
    // Sucrase is fast and keeps lines, but takes much for granted: the parser finds what is wrong, and where.
    const { program } = parse(source, { sourceType: 'module', plugins: [...language.plugins] })
    const { code } = transform(source, {
      transforms: [...language.transforms],
      jsxRuntime: 'automatic',
      production: true,
    })
    // Imports of types only are gone.
    const isLeft = ({ specifier }: ComponentImport): boolean =>
      code.includes(`'${specifier}'`) || code.includes(`"${specifier}"`)
    return {
      ok: true,
      code,
      imports: importsOf(program).filter(isLeft),
      hasDefault: program.body.some(isDefault),
    }
  } catch (error) {
    const fault = faultOf(error)
    if (fault === null) throw error
    return { ok: false, ...fault }
  }
}

type Program = ReturnType<typeof parse>['program']
type Statement = Program['body'][number]

const importsOf = ({ body }: Program): ComponentImport[] =>
  body.flatMap((statement) =>
    (statement.type === 'ImportDeclaration' ||
      statement.type === 'ExportNamedDeclaration' ||
      statement.type === 'ExportAllDeclaration') &&
    statement.source
      ? [{ specifier: statement.source.value, line: statement.loc?.start.line ?? 1 }]
      : [],
  )

const isDefault = (statement: Statement): boolean =>
  statement.type === 'ExportDefaultDeclaration' ||
  (statement.type === 'ExportNamedDeclaration' &&
    statement.specifiers.some(
      ({ exported }) => exported.type === 'Identifier' && exported.name === 'default',
    ))

/** Null for what is no fault of the file. */
function faultOf(error: unknown): { message: string; line: number | null } | null {
  if (error instanceof RangeError) return { message: 'It is nested too deeply.', line: null }
  if (!(error instanceof Error) || !('loc' in error)) return null
  const place: object = Object(error.loc)
  const line = 'line' in place && typeof place.line === 'number' ? place.line : null
  return { message: error.message.replace(/ \(\d+:\d+\)$/, ''), line }
}
