// The modules, builtins and run time that each strictness level allows a Python program.
import { z } from 'zod'

/** How much a program may import; see `ProgramRules`. */
export const Strictness = z.enum(['lenient', 'standard', 'strict'])
export type Strictness = z.infer<typeof Strictness>

/** Wall-clock time limit of a program in seconds. */
export const TIME_LIMIT_SECONDS: Readonly<Record<Strictness, number>> = {
  strict: 5,
  standard: 10,
  lenient: 30,
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Pure computation. */
const STRICT_MODULES = words(`
  abc array cmath collections contextlib copy dataclasses decimal enum fractions functools itertools math numbers
  operator random statistics string textwrap typing unicodedata
`)

const STANDARD_MODULES = words(`
  abc array base64 binascii bisect calendar cmath collections contextlib copy csv dataclasses datetime decimal difflib
  enum fractions functools hashlib heapq hmac html io itertools json logging math numbers operator pprint random re
  statistics string textwrap time typing unicodedata warnings xml.etree.ElementTree
`)

const STANDARD_REFUSED_NAMES = words(`
  eval exec compile __import__ input globals locals vars breakpoint __builtins__ __loader__ __spec__
`)

const REFUSED_NAMES: Readonly<Record<Strictness, readonly string[]>> = {
  lenient: [],
  standard: STANDARD_REFUSED_NAMES,
  strict: [...STANDARD_REFUSED_NAMES, ...words('getattr setattr delattr type')],
}

/** What the static check of a program allows. */
export interface ProgramRules {
  /** Modules that may be imported, including submodules; null means every module. */
  modules: readonly string[] | null
  /** Builtins that may not be named. */
  refusedNames: readonly string[]
}

/**
 * The rules of one level. `extra`: the operator's additional modules per level; looser levels include those of stricter ones.
 * `packages`: the modules of installed wheels, allowed at every level except `strict`.
 */
export function programRules(
  strictness: Strictness,
  extra: Partial<Record<Strictness, readonly string[]>>,
  packages: readonly string[],
): ProgramRules {
  if (strictness === 'lenient') return { modules: null, refusedNames: REFUSED_NAMES.lenient }
  const allowed =
    strictness === 'strict'
      ? [...STRICT_MODULES, ...(extra.strict ?? [])]
      : [...STANDARD_MODULES, ...(extra.strict ?? []), ...(extra.standard ?? []), ...packages]
  return { modules: [...new Set(allowed)].sort(), refusedNames: REFUSED_NAMES[strictness] }
}

const STRICTNESS_LEVELS: readonly Strictness[] = ['strict', 'standard', 'lenient']

/** Whether `requested` allows a program more than `allowed` does. */
export const isLooser = (requested: Strictness, allowed: Strictness): boolean =>
  STRICTNESS_LEVELS.indexOf(requested) > STRICTNESS_LEVELS.indexOf(allowed)
