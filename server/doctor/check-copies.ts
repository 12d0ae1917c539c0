// Lists the copies of what restores and upgrades replaced.
import { type CopyPlaces, replacedCopies } from '../files/replaced-copies.ts'
import { type Finding, fine } from './finding.ts'

/** As many as are listed by name. */
const NAMED = 20

/** No finding without copies. */
export async function checkCopies({
  places,
  days,
}: {
  places: CopyPlaces
  /** Days after which they are removed; null for never. */
  days: number | null
}): Promise<Finding[]> {
  const copies = await replacedCopies(places)
  if (copies.length === 0) return []
  const names = `${copies
    .slice(0, NAMED)
    .map(({ path }) => path)
    .join(', ')}${copies.length > NAMED ? ', …' : ''}`
  const kept =
    days === null ? 'kept until you remove them' : `removed ${days} days after they were made`
  return [
    fine(
      days === null ? 'copies_kept' : 'copies',
      'copies of what was replaced',
      `${copies.length}, ${kept}: ${names}`,
      { count: copies.length, names, ...(days === null ? {} : { days }) },
    ),
  ]
}
