// Short facts in one line, such as "2 files · 1.5 KB".
import { Fragment } from 'react'
import { atPlaces } from '../lib/list-keys.ts'

/** Joins facts with dots. Each fact keeps its writing direction, so that "1.5 KB" stays intact on a right-to-left page. */
export function Facts({ of }: { of: readonly string[] }) {
  return atPlaces(of).map(({ item, place }) => (
    <Fragment key={place}>
      {place > 0 && ' · '}
      <bdi>{item}</bdi>
    </Fragment>
  ))
}
