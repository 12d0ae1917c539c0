// Stores the time zone of this browser for a user who has none yet, so that schedules know when it is morning.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Preferences } from '../../../server/protocol/accounts/preferences.ts'
import { usePreferences } from '../lib/api/preferences.ts'
import { browserZone } from '../lib/browser/zone.ts'
import { request } from '../lib/http/api-client.ts'

/** Once for each start of the page. A failure is not shown: the next start tries again. */
export function useBrowserZone(): void {
  const client = useQueryClient()
  const { data } = usePreferences()
  const { mutate } = useMutation({
    mutationFn: (time_zone: string) =>
      request<Preferences>('/api/preferences', { method: 'PATCH', body: { time_zone } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['preferences'] }),
    meta: { quiet: true },
  })
  const isEmpty = data?.time_zone === ''
  useEffect(() => {
    if (isEmpty) mutate(browserZone())
  }, [isEmpty, mutate])
}
