// The months that the usage of all accounts can be shown for.
import { expect, test } from 'vitest'
import { monthsBetween } from '../../web/src/features/admin/months.ts'

test('months go back over the turn of a year to the first one with usage', () => {
  expect(monthsBetween('2025-11', '2026-02')).toEqual(['2026-02', '2026-01', '2025-12', '2025-11'])
  expect(monthsBetween('2026-02', '2026-02')).toEqual(['2026-02'])
  // Clocks of page and server may differ around the end of a month.
  expect(monthsBetween('2026-03', '2026-02')).toEqual(['2026-02'])
})
