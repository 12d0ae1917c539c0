// Several users: registering, signing out and in, wrong passwords, a token that is no longer valid.
import { createServer } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { startMailServer } from '../server/messaging/receivers.ts'
import { composer, describeInBrowser, expectAccessible, leave } from '../support/page/page.ts'
import { TEST_JWT_SECRET, type TestServer, useServers } from '../support/server/server.ts'
import { CLIENT, startScriptedIssuer } from '../support/sign-in/issuer.ts'

describeInBrowser('signing in', (visitor) => {
  const servers = useServers()
  let server: TestServer
  beforeAll(async () => {
    server = await servers.start({
      config: { auth_mode: 'multi', jwt_secret: TEST_JWT_SECRET },
      webRoot: visitor.webRoot(),
    })
  })

  test('a new user registers, signs out, and signs in again', async () => {
    const page = await visitor.open(server.url)
    await page.getByRole('heading', { name: 'Create the first account' }).waitFor()
    await page.getByLabel('Username').and(page.locator(':focus')).waitFor()
    expect(await page.title()).toBe('Create the first account · NanoClaw')
    await expectAccessible(page)
    await page.getByLabel('Username').fill('ada')
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Create account' }).click()
    await composer(page).waitFor()
    await page.reload()
    await composer(page).waitFor()

    await page.goto(`${server.url}/settings/account`)
    await page.getByText('ada').first().waitFor()
    await expect.poll(() => page.title()).toBe('Settings · NanoClaw')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Welcome back' }).waitFor()

    // While the page loads, it offers a message field to whoever has signed in, and to nobody else.
    await page.route(/\/assets\/index-/, (route) =>
      route.fulfill({ contentType: 'text/javascript', body: '' }),
    )
    await page.goto(server.url)
    await page.locator('.boot').waitFor()
    expect(await page.locator('#early').count()).toBe(0)
    await page.unrouteAll()
    await page.goto(`${server.url}/settings/account`)

    await page.getByLabel('Username').fill('ada')
    await page.getByLabel('Password').fill('wrong horse')
    await page.getByRole('button', { name: 'Show what’s typed' }).click()
    expect(await page.getByLabel('Password').getAttribute('type')).toBe('text')
    await page.getByRole('button', { name: 'Hide what’s typed' }).click()
    expect(await page.getByLabel('Password').getAttribute('type')).toBe('password')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('alert').waitFor()
    // The next attempt begins at the first field.
    await page.getByLabel('Username').and(page.locator(':focus')).waitFor()
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()

    // The address of the sign-in page redirects whoever is signed in.
    await page.goto(`${server.url}/login`)
    await composer(page).waitFor()
    expect(new URL(page.url()).pathname).toBe('/')
    await leave(page)
  })

  test('over plain HTTP from another machine, a session survives a reload without a stored token, and its end shows in every tab', async () => {
    await server.call('POST', '/api/auth/register', {
      body: { username: 'bea', password: 'correct horse' },
    })
    const page = await visitor.open(server.url, { remote: true })
    await page.getByLabel('Username').fill('bea')
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await composer(page).waitFor()
    const other = await page.context().newPage()
    await other.goto(page.url())
    await composer(other).waitFor()
    const readable = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
    )
    expect(readable).not.toMatch(/eyJ|nanoclaw_session/)
    expect(await page.evaluate<string>('document.cookie')).toBe('')

    await page.goto(`${new URL(page.url()).origin}/settings/account`)
    await page.getByText('This device').waitFor()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
    await other.getByRole('heading', { name: 'Welcome back' }).waitFor()
    await other.close()
    await leave(page)
  })

  test('two sessions in the same browser have buttons with different names', async () => {
    const password = 'an ordinary horse'
    await server.call('POST', '/api/auth/register', { body: { username: 'dora', password } })
    const headers = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Chrome/140.0' }
    for (let at = 0; at < 2; at += 1)
      await server.call('POST', '/api/auth/login', {
        body: { username: 'dora', password },
        headers,
      })
    const page = await visitor.open(`${server.url}/settings/account`)
    await page.getByLabel('Username').fill('dora')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    const ends = page.getByRole('button', { name: /^Sign out Chrome · Windows \(/ })
    await expect.poll(() => ends.count()).toBe(2)
    const names = await ends.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
    expect(new Set(names).size).toBe(2)
    // The session of the API call that registered is the only one of its kind.
    await page.getByRole('button', { name: 'Sign out node', exact: true }).waitFor()
    await leave(page)
  })

  test('an email address is changed with the current password and confirmed, and leads to a new password', async () => {
    const { smtp, mails } = await startMailServer()
    const host = await servers.start({
      config: {
        auth_mode: 'multi',
        jwt_secret: TEST_JWT_SECRET,
        public_url: 'https://chat.example.org',
        smtp,
      },
      webRoot: visitor.webRoot(),
    })
    const linkIn = (mail: string | undefined) =>
      `${host.url}/join${/\/join(#[\w=-]+)/.exec(mail?.replaceAll('=\r\n', '') ?? '')?.[1]}`
    const page = await visitor.open(`${host.url}${host.server.setupPath}`, { ownContext: true })
    await page.getByLabel('Username').fill('ada')
    await page.getByLabel('Password').fill('correct horse')
    // A server for the internet is not left open to everybody unless its administrator says so.
    await page.getByLabel('Who can register').selectOption('closed')
    await page.getByRole('button', { name: 'Create account' }).click()
    await composer(page).waitFor()
    await expect
      .poll(async () => (await host.call('GET', '/api/auth/mode')).json.data.registration)
      .toBe('closed')

    await page.goto(`${host.url}/settings/account`)
    await page.getByLabel('Email').fill('ada@example.org')
    await page.keyboard.press('Enter')
    const current = page.getByLabel('Current password').first()
    await current.and(page.locator(':focus')).waitFor()
    await page.keyboard.type('correct horse')
    await page.keyboard.press('Enter')
    await expect.poll(() => mails).toHaveLength(1)
    await page.goto(linkIn(mails[0]))
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('NanoClaw can now send email to ada@example.org.').waitFor()
    await expectAccessible(page)

    const guest = await visitor.open(`${host.url}/continue/shared`, { ownContext: true })
    await guest.getByText('To continue this conversation, you need an account.').waitFor()
    await guest.getByText('New accounts are by invitation').waitFor()
    await guest.getByRole('button', { name: 'Forgot your password?' }).click()
    await guest.getByLabel('Email').fill('ada@example.org')
    await guest.getByRole('button', { name: 'Send link' }).click()
    await expect.poll(() => mails).toHaveLength(2)
    await guest.goto(linkIn(mails[1]))
    await guest.getByLabel('New password').fill('another good horse')
    await expectAccessible(guest)
    await guest.keyboard.press('Enter')
    await composer(guest).waitFor()
    // A new password ends the other sessions.
    await page.goto(`${host.url}/settings/account`)
    await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
    await leave(guest)
    await leave(page)
  })

  test('an administrator invites a user, who joins with the link and can be disabled at once', async () => {
    const page = await visitor.open(server.url)
    await page.getByLabel('Username').fill('ada')
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await composer(page).waitFor()
    await page.goto(`${server.url}/admin/groups`)
    await page.getByRole('button', { name: 'Create group' }).click()
    const group = page.getByRole('dialog', { name: 'Create group' })
    await group.getByLabel('Name').fill('Readers')
    await group.getByRole('button', { name: 'Create group' }).click()
    await page.getByRole('dialog', { name: 'Group “Readers”' }).waitFor()
    await page.goto(`${server.url}/admin/invitations`)
    await page.getByText('No invitations yet').waitFor()
    await page.getByRole('button', { name: 'Create invitation' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create invitation' })
    await dialog.getByLabel('Who is it for?').fill('Carl')
    await dialog.getByLabel('Valid for').selectOption('30 days')
    await dialog.getByLabel('Group').selectOption('Readers')
    await dialog.getByText('Limits of this account').click()
    await dialog.getByLabel('Tokens per day').fill('5000')
    await dialog.getByRole('button', { name: 'Create invitation' }).click()
    const link = await dialog.getByLabel('Send this link').inputValue()
    await dialog.getByRole('img', { name: 'QR code of the invitation link' }).waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await page.getByText(/Readers · .*Tokens per day: 5,000/).waitFor()
    await expectAccessible(page)

    const guest = await visitor.open(link, { ownContext: true })
    await guest.getByRole('heading', { name: 'You’re invited' }).waitFor()
    expect(guest.url()).toBe(`${server.url}/join`)
    await guest.getByLabel('Username').fill('carl')
    await guest.getByLabel('Password').fill('battery staple')
    await guest.getByRole('button', { name: 'Create account' }).click()
    await composer(guest).waitFor()

    await page.getByRole('radio', { name: 'Accounts' }).click()
    await page.getByRole('button', { name: 'Actions for carl' }).click()
    await page.getByRole('menuitem', { name: 'Disable' }).click()
    const question = page.getByRole('alertdialog', { name: 'Disable the account “carl”?' })
    await question.getByRole('button', { name: 'Disable' }).click()
    await guest.getByRole('heading', { name: 'Welcome back' }).waitFor()
    await expectAccessible(page)
    await leave(guest)
    await leave(page)
  })

  test('with passwords switched off, single sign-on leads to the page, and its refusals are explained', async () => {
    const issuer = await startScriptedIssuer()
    // The public URL leads to this server, as a reverse proxy would.
    let target = ''
    const proxy = createServer(({ url = '/' }, response) => {
      response.writeHead(302, { location: target + url }).end()
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const address = proxy.address()
    const publicUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    const sso = await servers.start({
      config: {
        auth_mode: 'multi',
        jwt_secret: TEST_JWT_SECRET,
        public_url: publicUrl,
        trusted_hosts: ['127.0.0.1'],
        oidc: {
          issuer: issuer.url,
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          name: 'Example',
          admin_groups: ['ops'],
          password_login: false,
          break_glass: 'root',
        },
      },
      webRoot: visitor.webRoot(),
    })
    const link = sso.server.setupPath?.split('#')[1]
    const root = { username: 'root', password: 'correct horse', link }
    await sso.call('POST', '/api/auth/register', { body: root })
    target = sso.url
    const page = await visitor.open(`${sso.url}/settings/account`, { ownContext: true })
    issuer.lie = { claims: { aud: 'somebody-else' } }
    await page.getByRole('link', { name: 'Sign in with Example' }).click()
    await page.getByText('the response could not be verified').waitFor()
    await expectAccessible(page)
    issuer.lie = {}
    await page.goto(`${sso.url}/settings/account`)
    await page.getByRole('link', { name: 'Sign in with Example' }).click()
    await page.getByText('somebody').first().waitFor()
    expect(page.url()).toBe(`${sso.url}/settings/account`)
    // Not `leave`: this page was at another origin on purpose.
    await page.context().close()
    proxy.close()
    await issuer.close()
  })

  test('data stored by an earlier version is removed, and a session that ended leads to the sign-in page', async () => {
    const page = await visitor.open(server.url)
    await page.evaluate(
      "localStorage.setItem('nanoclaw.token', 'x'); localStorage.setItem('nanoclaw.signed-in', 'yes')",
    )
    await page.reload()
    await page.getByRole('heading', { name: 'Welcome back' }).waitFor()
    await expect
      .poll(() =>
        page.evaluate<unknown>(
          "[localStorage.getItem('nanoclaw.token'), localStorage.getItem('nanoclaw.signed-in')]",
        ),
      )
      .toEqual([null, null])
    await leave(page)
  })
})
