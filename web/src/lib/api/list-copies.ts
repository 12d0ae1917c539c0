// Keeps the stored copies of the lists of conversations as the lists are shown: changes update them without a refetch.
import type { QueryClient } from '@tanstack/react-query'
import { addressOf } from '../http/api-client.ts'
import { storeCopy } from '../offline/offline.ts'
import {
  type ConversationPages,
  filtersOf,
  LISTS_PATH,
  listParameters,
} from './conversation-lists.ts'

/** Copies the first page of a list whenever it is changed in place. Returns a function that stops this. */
export const copyChangedLists = (client: QueryClient): (() => void) =>
  client.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'success') return
    const filters = filtersOf(event.query.queryKey)
    // What was fetched is copied with its response, and nobody searches the titles without a connection.
    if (event.action.manual !== true || filters === null || filters.q !== '') return
    // The key belongs to a list, whose data has this type.
    const [first] = (event.query.state.data as ConversationPages).pages
    storeCopy(addressOf(LISTS_PATH, listParameters(filters, null)), first)
  })
