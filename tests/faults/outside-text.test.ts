// kill -9 after a page is stored and before it is used: the run that resumes after the restart is still tainted.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  actor,
  type Call,
  fetchCall,
  HOSTILE,
  outsideConfiguration,
  waitForStored,
  writeCall,
} from '../support/faults/outside-actor.ts'
import { startUpstream, type Upstream } from '../support/provider/upstream.ts'
import { turn } from '../support/provider/upstream-turns.ts'
import { callServer } from '../support/server/call-server.ts'
import { openEvents } from '../support/server/events.ts'
import { databaseKeys } from '../support/server/server.ts'
import { serverPlace } from '../support/server/server-process.ts'
import { useDatabases } from '../support/store/databases.ts'
import { DIALECTS } from '../support/store/dialects.ts'
import { startWebSite, type WebSite } from '../support/web-site.ts'

/** `npm run test:faults` runs the long form, `npm test` a short one. */
const KILLS = process.env.FAULTS === 'full' ? 10 : 1

let upstream: Upstream
let site: WebSite
/** Lets the pending response of `/slow` complete. */
let release: () => void
beforeAll(async () => {
  upstream = await startUpstream()
  site = await startWebSite()
  site.serve('/page', 'text/plain', HOSTILE)
})
/** Delays the response of `/slow` until `release` is called. */
const hold = (): void => {
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  site.page('/slow', async (_request, response) => {
    await released
    response.setHeader('content-type', 'text/plain').end('slow')
  })
}
afterAll(async () => {
  await site.close()
  await upstream.close()
})

for (const dialect of DIALECTS)
  describe(`a server killed after a page is stored and before it is used (${dialect})`, () => {
    const databases = useDatabases()
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-outside-'))
    afterAll(() => rmSync(folder, { recursive: true, force: true }))

    test(`requests approval for a write when the run continues (kills: ${KILLS})`, async () => {
      const place = await serverPlace(folder, {
        ...databaseKeys(await databases.settings(dialect)),
        ...outsideConfiguration(upstream),
      })
      try {
        let server = await place.start()
        const call: Call = (method, path, body) => callServer(server.url, method, path, body)
        const { createProject, createConversation, send } = actor(
          () => ({ upstream, site, url: server.url }),
          call,
        )
        for (let round = 0; round < KILLS; round += 1) {
          hold()
          const conversation = await createConversation(await createProject())
          upstream.enqueue(turn.toolCalls([fetchCall(site, '/slow'), fetchCall(site, '/page')]))
          const stream = await send(conversation)
          const { data } = await stream.next(({ event }) => event === 'run')
          await waitForStored(call, conversation, 'fetch_/page')
          await server.kill('SIGKILL')
          release()
          // The pending page was lost with the process: only the stored tool result contains text from outside.
          upstream.enqueue(turn.toolCalls([writeCall('a.txt')]))
          server = await place.start()
          const back = await openEvents(`${server.url}/api/runs/${data.run_id}/events`)
          const next = await back.next(
            ({ event }) => event === 'approval_required' || event === 'done' || event === 'error',
          )
          expect(next.event).toBe('approval_required')
          back.leave()
          await call('POST', `/api/runs/${data.run_id}/stop`)
        }
      } finally {
        await place.close()
      }
    })
  })
