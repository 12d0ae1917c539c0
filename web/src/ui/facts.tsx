// Short facts about something in one line, such as "2 files · 1.5 KB".
import { Fragment } from 'react'
import { atPlaces } from '../lib/list-keys.ts'

/** Each fact keeps its own direction of writing: a size in Latin letters stays whole on a page that is written from right to left. */
export function Facts({ of }: { of: readonly string[] }) {
  return atPlaces(of).map(({ item, place }) => (
    <Fragment key={place}>
      {place > 0 && ' · '}
      <bdi>{item}</bdi>
    </Fragment>
  ))
}
