// Texts that the user has typed while they are stored: nothing is lost when the server cannot be reached.
import { expect, test } from 'vitest'
import { describeInBrowser, leave } from '../support/page/page.ts'
import { usePageServer } from '../support/page/page-server.ts'

describeInBrowser('storing what was typed', (visitor) => {
  const on = usePageServer(visitor)

  test('a system prompt, a saved prompt and a name stay in their dialogs until they are stored', async () => {
    const { server } = on
    const { json } = await server.call('POST', '/api/conversations', { body: { title: 'Tea' } })
    const project = await on.createProject('Kettles', { 'kettle.md': 'kettle' })
    const page = await visitor.open(`${server.url}/c/${json.data.id}`)
    const dialog = page.getByRole('dialog')
    /** Fails once, then succeeds. The text is still there in between. */
    const saveTwice = async (path: string, button: string, label: string): Promise<void> => {
      const typed = await dialog.getByLabel(label, { exact: true }).inputValue()
      await page.route(path, (route) =>
        route.request().method() === 'GET'
          ? route.continue()
          : route.fulfill({ status: 502, body: 'Bad gateway' }),
      )
      await dialog.getByRole('button', { name: button }).click()
      await page.getByText('answered with HTTP 502').first().waitFor()
      expect(await dialog.getByLabel(label, { exact: true }).inputValue()).toBe(typed)
      await page.unroute(path)
      await dialog.getByRole('button', { name: button }).click()
      await dialog.waitFor({ state: 'detached' })
    }

    await page.getByRole('button', { name: 'Conversation settings' }).click()
    await dialog.getByLabel('System prompt').fill('You know all kinds of tea.')
    await saveTwice('**/api/conversations/*', 'Save', 'System prompt')
    const stored = await server.call('GET', `/api/conversations/${json.data.id}`)
    expect(stored.json.data.system_prompt).toBe('You know all kinds of tea.')
    // The Enter key saves, with Ctrl where it alone begins a line.
    const open = page.getByRole('button', { name: 'Conversation settings' })
    const temperature = async () =>
      (await server.call('GET', `/api/conversations/${json.data.id}`)).json.data.temperature
    await open.click()
    await dialog.getByLabel('Temperature').fill('0.5')
    await dialog.getByLabel('Temperature').press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(temperature).toBe(0.5)
    await open.click()
    await dialog.getByLabel('Temperature').fill('3')
    await dialog.getByLabel('System prompt').press('Control+Enter')
    await dialog.getByLabel('Temperature').fill('1')
    await dialog.getByLabel('System prompt').press('Control+Enter')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(temperature).toBe(1)

    await page.goto(`${server.url}/settings/agent`)
    // A press beside a dialog closes it only if nothing was typed.
    await page.getByRole('button', { name: 'Save a prompt' }).click()
    await dialog.getByLabel('Name').waitFor()
    await page.mouse.click(5, 5)
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save a prompt' }).click()
    await dialog.getByLabel('Name').fill('Brew')
    await page.mouse.click(5, 5)
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Brew')
    await dialog.getByLabel('Prompt', { exact: true }).fill('How is {{tea}} brewed?')
    await saveTwice('**/api/preferences', 'Save', 'Prompt')
    await page
      .getByRole('list', { name: 'Saved prompts' })
      .getByText('Brew', { exact: true })
      .waitFor()

    await page.goto(`${server.url}/projects/${project}`)
    await page.getByRole('button', { name: 'New file' }).click()
    await dialog.getByLabel('Path in the project').fill('cups.md')
    await saveTwice('**/api/projects/*/files/*', 'OK', 'Path in the project')
    expect(await on.readFile(project, 'cups.md')).toBe('')
    await leave(page)
  })

  test('an edit of the memory is kept when the agent adds a fact meanwhile, and the user chooses what is stored', async () => {
    const { server } = on
    const path = '/api/memory'
    const read = async () => (await server.call('GET', path)).json.data.content
    await server.call('PUT', path, { body: { content: 'I like tea.' } })
    const page = await visitor.open(`${server.url}/memory`)
    const text = page.getByLabel('Full text')
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await text.fill('I like green tea.')
    await server.call('PUT', path, { body: { content: 'I like tea.\n- a fact' } })
    await save.press('Enter')
    await page.getByText('The memory has changed in the meantime.').waitFor()
    expect(await text.inputValue()).toBe('I like green tea.')
    expect(await read()).toBe('I like tea.\n- a fact')
    await page.getByRole('button', { name: 'Overwrite with mine' }).press('Enter')
    await expect.poll(read).toBe('I like green tea.')
    await page.getByText('The memory has changed in the meantime.').waitFor({ state: 'detached' })

    await text.fill('I like black tea.')
    await server.call('PUT', path, { body: { content: 'I like coffee.' } })
    await save.press('Enter')
    await page.getByRole('button', { name: 'Load theirs' }).click()
    await expect.poll(() => text.inputValue()).toBe('I like coffee.')
    await text.fill('I like coffee. And cake.')
    await save.press('Enter')
    await expect.poll(read).toBe('I like coffee. And cake.')
    await save.and(page.locator(':focus')).waitFor()
    await leave(page)
  })

  test('instructions that were changed elsewhere are shown, unless they are being edited', async () => {
    const { server } = on
    const store = (instructions: string) =>
      server.call('PATCH', '/api/preferences', { body: { instructions } })
    await store('Be brief.')
    const page = await visitor.open(`${server.url}/settings/agent`)
    const text = page.getByLabel('Instructions')
    const save = page.getByRole('button', { name: 'Save', exact: true })
    expect(await text.inputValue()).toBe('Be brief.')
    await store('Be thorough.')
    /** Loads the preferences again, as any change of them does. */
    const reload = () => page.getByRole('switch').first().click()
    await reload()
    await expect.poll(() => text.inputValue()).toBe('Be thorough.')
    expect(await save.isDisabled()).toBe(true)
    await text.fill('Be friendly.')
    await store('Be formal.')
    const answered = page.waitForResponse((response) => response.url().includes('/api/preferences'))
    await reload()
    await answered
    expect(await text.inputValue()).toBe('Be friendly.')
    await leave(page)
  })

  test('what was typed into the memory or instructions is there again after a visit to another view, until it is stored', async () => {
    const { server } = on
    await server.call('PUT', '/api/memory', { body: { content: 'I like tea.' } })
    await server.call('PATCH', '/api/preferences', { body: { instructions: 'Be brief.' } })
    const project = await on.createProject('Teapots', { 'pot.md': 'pot' })
    const page = await visitor.open(`${server.url}/memory`)
    const memory = page.getByLabel('Full text')
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await memory.fill('I like coffee.')
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByRole('link', { name: 'Agent', exact: true }).click()
    const instructions = page.getByLabel('Instructions')
    await instructions.fill('Be thorough.')

    await page.getByRole('link', { name: 'Memory', exact: true }).click()
    expect(await memory.inputValue()).toBe('I like coffee.')
    // The browser asks before it closes the page with unsaved texts.
    const asked = page.waitForEvent('dialog')
    void page.close({ runBeforeUnload: true })
    await (await asked).dismiss()
    await save.click()
    await page.getByText('Saved.', { exact: true }).first().waitFor()

    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByRole('link', { name: 'Agent', exact: true }).click()
    expect(await instructions.inputValue()).toBe('Be thorough.')
    // Refused once: the text stays.
    await page.route('**/api/preferences', (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 502, body: 'Bad gateway' })
        : route.continue(),
    )
    await save.click()
    await page.getByText('answered with HTTP 502').first().waitFor()
    expect(await instructions.inputValue()).toBe('Be thorough.')
    await page.unroute('**/api/preferences')
    // Changed elsewhere meanwhile: the user chooses.
    await server.call('PATCH', '/api/preferences', { body: { instructions: 'Be formal.' } })
    await page.getByText('The instructions have changed in the meantime.').waitFor()
    await page.getByRole('button', { name: 'Overwrite with mine' }).press('Enter')
    await instructions.and(page.locator(':focus')).waitFor()
    await expect
      .poll(async () => (await server.call('GET', '/api/preferences')).json.data.instructions)
      .toBe('Be thorough.')

    await page.goto(`${server.url}/projects/${project}`)
    await page.getByRole('tab', { name: 'Settings' }).click()
    await instructions.fill('Only about teapots.')
    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByRole('tab', { name: 'Settings' }).click()
    expect(await instructions.inputValue()).toBe('Only about teapots.')
    await save.first().click()
    await expect
      .poll(
        async () => (await server.call('GET', `/api/projects/${project}`)).json.data.instructions,
      )
      .toBe('Only about teapots.')
    await page.waitForFunction(
      `!document.querySelector('form button[type=submit]').matches(':enabled:not([aria-disabled=true])')`,
    )
    // Nothing is unsaved, so the page closes without a question.
    await page.goto(`${server.url}/memory`)
    expect(await memory.inputValue()).toBe('I like coffee.')
    await leave(page)
  })

  test('a new file opens for writing, with the focus in it, also if it would be shown as a preview', async () => {
    const project = await on.createProject('Menus', {})
    const page = await visitor.open(`${on.server.url}/projects/${project}`)
    await page.getByRole('button', { name: 'New file' }).click()
    await page.getByLabel('Path in the project').fill('notes/tea.md')
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'notes/tea.md' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('# Tea')
    await page.keyboard.press('Control+s')
    await expect.poll(() => on.readFile(project, 'notes/tea.md')).toBe('# Tea')
    await leave(page)
  })

  test('an open file without unsaved text shows what others store, and says when it is gone', async () => {
    const project = await on.createProject('Menu', {
      'tea.md': '# Green tea',
      'a.txt': 'one\ntwo\n',
    })
    const write = (path: string, content: string) =>
      on.server.call('PUT', `/api/projects/${project}/files/${path}`, { body: { content } })
    const page = await visitor.open(`${on.server.url}/projects/${project}`)
    const tree = page.getByRole('tree', { name: 'Files' })
    await tree.getByText('tea.md').click()
    await page.getByRole('heading', { name: 'Green tea' }).waitFor()
    await write('tea.md', '# Black tea')
    await page.getByRole('heading', { name: 'Black tea' }).waitFor()
    expect(await page.getByText('Someone else changed this file').count()).toBe(0)

    await tree.getByText('a.txt').click()
    const editor = page.getByRole('textbox', { name: 'a.txt' })
    await editor.getByText('two').click()
    await page.keyboard.press('End')
    await write('a.txt', 'zero\none\ntwo\n')
    await editor.getByText('zero').waitFor()
    // The caret stays where it was, and what is typed now is based on the new text.
    await page.keyboard.type(' and a half')
    await page.keyboard.press('Control+s')
    await expect.poll(() => on.readFile(project, 'a.txt')).toBe('zero\none\ntwo and a half\n')
    await page.getByText('unsaved').waitFor({ state: 'detached' })

    // Unsaved text stays, and its writer chooses.
    await page.keyboard.type('!')
    await page.getByText('unsaved').waitFor()
    await write('a.txt', 'three\n')
    await page.getByText('Someone else changed this file').waitFor()
    await page.getByRole('button', { name: 'Load theirs' }).click()
    await editor.getByText('three').waitFor()

    await on.server.call('DELETE', `/api/projects/${project}/files/a.txt`)
    await page.getByRole('alert').getByText('No file or folder “a.txt”.').waitFor()
    await page.getByRole('button', { name: 'Files', exact: true }).click()
    await tree.getByText('tea.md').waitFor()
    expect(await tree.getByText('a.txt').count()).toBe(0)
    await leave(page)
  })

  test('changes are sent while the browser says that it has no network: the server may be on the same computer', async () => {
    const { server } = on
    const page = await visitor.open(`${server.url}/settings/agent`)
    await page.evaluate("window.dispatchEvent(new Event('offline'))")
    await page.getByLabel('Instructions').fill('Answer briefly.')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect
      .poll(async () => (await server.call('GET', '/api/preferences')).json.data.instructions)
      .toBe('Answer briefly.')
    await leave(page)
  })
})
