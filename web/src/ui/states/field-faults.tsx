// Puts the faults of a refused request at the fields that they concern.
import {
  createContext,
  type ReactNode,
  use,
  useCallback,
  useLayoutEffect,
  useMemo,
  useState,
} from 'react'
import type { FieldFaults as Faults } from '../../../../server/protocol/field-fault.ts'
import { errorText, faultText, fieldFaultsOf } from './error-text.ts'

interface Shown {
  faults: Faults
  /** Names of the fields that show their own fault. */
  fields: ReadonlySet<string>
  /** Adds a field until the returned function is called. */
  add(field: string): () => void
}

const FaultContext = createContext<Shown | null>(null)

/** Gives the fields in `children` that have a `field` the faults of `error`. */
export function FieldFaults({ error, children }: { error: unknown; children: ReactNode }) {
  const [fields, setFields] = useState<ReadonlySet<string>>(new Set())
  const add = useCallback((field: string) => {
    setFields((old) => new Set([...old, field]))
    return () => setFields((old) => new Set([...old].filter((one) => one !== field)))
  }, [])
  const faults = useMemo(() => fieldFaultsOf(error), [error])
  const shown = useMemo(() => ({ faults, fields, add }), [faults, fields, add])
  return <FaultContext value={shown}>{children}</FaultContext>
}

/**
 * The fault of the field with this name in the request, as a sentence. A value of another form than the field asks for is
 * explained by the field's `hint`.
 */
export function useFieldFault(field: string | undefined, hint?: ReactNode): string | undefined {
  const shown = use(FaultContext)
  const add = shown?.add
  useLayoutEffect(() => (field === undefined ? undefined : add?.(field)), [field, add])
  const fault = shown?.faults.find(({ path }) => path === field)
  if (fault === undefined) return undefined
  return fault.fault === 'form' && typeof hint === 'string' ? hint : faultText(fault)
}

/** The text of an error that no field shows; undefined without one. Inside `FieldFaults`. */
export function useRemainingError(error: unknown): string | undefined {
  const shown = use(FaultContext)
  if (error === null || error === undefined) return undefined
  const faults = fieldFaultsOf(error)
  const isShown = faults.length > 0 && faults.every(({ path }) => shown?.fields.has(path))
  return isShown ? undefined : errorText(error)
}
