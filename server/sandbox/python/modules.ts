// The modules, builtins and run time that each strictness level allows a Python program.
import { z } from 'zod'

export const Strictness = z.enum(['lenient', 'standard', 'strict'])
export type Strictness = z.infer<typeof Strictness>

/** Wall-clock time limit of a program in seconds. */
export const timeLimitSeconds: Readonly<Record<Strictness, number>> = {
  strict: 5,
  standard: 10,
  lenient: 30,
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Pure computation. */
const strictModules = words(`
  abc array cmath collections contextlib copy dataclasses decimal enum fractions functools itertools math numbers
  operator random statistics string textwrap typing unicodedata
`)

const standardModules = words(`
  abc array base64 binascii bisect calendar cmath collections contextlib copy csv dataclasses datetime decimal difflib
  enum fractions functools hashlib heapq hmac html io itertools json logging math numbers operator pprint random re
  statistics string textwrap time typing unicodedata warnings xml.etree.ElementTree
`)

const standardRefusedNames = words(`
  eval exec compile __import__ input globals locals vars breakpoint __builtins__ __loader__ __spec__
`)

const refusedNames: Readonly<Record<Strictness, readonly string[]>> = {
  lenient: [],
  standard: standardRefusedNames,
  strict: [...standardRefusedNames, ...words('getattr setattr delattr type')],
}

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
  if (strictness === 'lenient') return { modules: null, refusedNames: refusedNames.lenient }
  const allowed =
    strictness === 'strict'
      ? [...strictModules, ...(extra.strict ?? [])]
      : [...standardModules, ...(extra.strict ?? []), ...(extra.standard ?? []), ...packages]
  return { modules: [...new Set(allowed)].sort(), refusedNames: refusedNames[strictness] }
}

const levels: readonly Strictness[] = ['strict', 'standard', 'lenient']

/** Whether `requested` allows a program more than `allowed` does. */
export const isLooser = (requested: Strictness, allowed: Strictness): boolean =>
  levels.indexOf(requested) > levels.indexOf(allowed)
