// Uploads to projects in the page: sent again after a restart of the server. The browser is a small substitute.
import { afterEach, expect, test, vi } from 'vitest'

type Answer = { status: number; body: unknown }

/** Answers uploads one after another. @returns what was asked. */
function useBrowser(answers: Answer[]): string[] {
  const asked: string[] = []
  class Request extends EventTarget {
    upload = new EventTarget()
    status = 0
    response: unknown = null
    address = ''
    open(_method: string, address: string): void {
      this.address = address
    }
    setRequestHeader(): void {}
    send(form: FormData): void {
      asked.push(`${this.address} ${[...form.keys()].join()}`)
      const answer = answers.shift() ?? { status: 500, body: null }
      this.status = answer.status
      this.response = answer.body
      queueMicrotask(() => this.dispatchEvent(new Event('load')))
    }
  }
  vi.stubGlobal('XMLHttpRequest', Request)
  const document = { visibilityState: 'visible', documentElement: { dataset: {} } }
  vi.stubGlobal('document', Object.assign(new EventTarget(), document))
  const page = new EventTarget()
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page))
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page))
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path)
    // The network is back.
    return new Response(null, { status: 200 })
  })
  return asked
}
afterEach(() => {
  vi.unstubAllGlobals()
})

const files = [{ file: new File(['a heron'], 'bird.txt'), path: 'birds/bird.txt' }]
const restarting = { status: 503, body: { message: 'Restarting', reason: 'shutting_down' } }
/** Loaded in a page without a session. */
async function send(): Promise<unknown> {
  vi.stubGlobal('window', new EventTarget())
  vi.stubGlobal('navigator', { onLine: true, language: 'en', languages: ['en'] })
  vi.stubGlobal('location', new URL('http://localhost/'))
  vi.stubGlobal('localStorage', { getItem: () => null, setItem() {}, removeItem() {} })
  const { upload } = await import('../../web/src/features/projects/api/upload.ts')
  return await upload('/api/projects/p/files', { path: '' }, files, () => {})
}

test('an upload that a restarting server has refused is sent again, whole, once the server is back', async () => {
  const asked = useBrowser([restarting, restarting, { status: 200, body: { data: 'added' } }])
  expect(await send()).toBe('added')
  const uploaded = '/api/projects/p/files path,files'
  expect(asked).toEqual([uploaded, '/readyz', uploaded, '/readyz', uploaded])
})

test('an upload that is refused for another reason is sent once', async () => {
  const busy = { status: 503, body: { message: 'Busy', reason: 'uploads_busy' } }
  const asked = useBrowser([busy, { status: 200, body: { data: 'added' } }])
  await expect(send()).rejects.toMatchObject({ status: 503, reason: 'uploads_busy' })
  expect(asked).toHaveLength(1)
})
