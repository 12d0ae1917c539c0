// Imports from programs other than ChatGPT over real HTTP. The forms are those of the programs' own exports; the texts are ours.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SqliteClient } from '../../../server/lib/sqlite-driver.ts'
import { useImports } from '../../support/server/transfers.ts'

describe('imports', () => {
  const { titled, messagesOf, patch, take } = useImports()

  test('an import from Claude keeps branches, thinking, calls and attached text', async () => {
    const message = (uuid: string, parent: string, sender: string, more: object) => ({
      uuid,
      parent_message_uuid: parent,
      sender,
      text: '',
      created_at: '2026-01-02T03:04:05.678Z',
      attachments: [],
      files: [],
      content: [],
      ...more,
    })
    const job = await take([
      {
        uuid: 'c1',
        name: 'From Claude',
        created_at: '2026-01-02T03:04:05Z',
        updated_at: '2026-01-02T04:00:00Z',
        chat_messages: [
          // The order of the file is not that of the branch.
          message('a', 'h', 'assistant', {
            content: [
              { type: 'thinking', thinking: 'Hm' },
              { type: 'tool_use', id: 'tu', name: 'search', input: { q: 'x' } },
              {
                type: 'tool_result',
                tool_use_id: 'tu',
                name: 'search',
                content: [{ type: 'text', text: 'found' }],
              },
              { type: 'text', text: 'Done' },
            ],
          }),
          message('h', '00000000-0000-4000-8000-000000000000', 'human', {
            content: [{ type: 'text', text: 'Find x' }],
            attachments: [{ file_name: 'notes.txt', extracted_content: 'note' }],
            files: [{ file_name: 'scan.pdf' }],
          }),
        ],
      },
    ])
    expect(job).toMatchObject({ format: 'claude', report: { conversations: 1, files: 1 } })
    expect(job.report.skipped).toMatchObject([{ what: 'scan.pdf', reason: 'import_file_missing' }])
    const [question, answer] = await messagesOf((await titled('From Claude')).id)
    expect(question).toMatchObject({
      text: 'Find x',
      attachments: [{ name: 'notes.txt' }],
      created_at: '2026-01-02T03:04:05.678Z',
    })
    expect(answer.text).toBe('Done')
    expect(answer.process_steps.map(({ type }: { type: string }) => type)).toEqual([
      'thinking',
      'tool_call',
      'tool_result',
      'text',
    ])
  })

  test('an import from Open WebUI keeps both forms of reasoning, calls, tags and flags', async () => {
    const job = await take([
      {
        id: 'w1',
        title: 'From Open WebUI',
        pinned: true,
        meta: { tags: ['maths', 'Maths'] },
        created_at: 1700000000,
        updated_at: 1700000010,
        chat: {
          models: ['deepseek-r1'],
          history: {
            currentId: 'm3',
            messages: {
              m1: {
                id: 'm1',
                parentId: null,
                role: 'user',
                content: 'What is 1+1?',
                timestamp: 1700000000,
              },
              m2: {
                id: 'm2',
                parentId: 'm1',
                role: 'assistant',
                content:
                  '<details type="reasoning" done="true"><summary>Thought</summary>&gt; One and one</details>\nTwo',
                model: 'deepseek-r1',
              },
              m3: {
                id: 'm3',
                parentId: 'm1',
                role: 'assistant',
                content: 'ignored',
                output: [
                  { type: 'reasoning', content: [{ type: 'output_text', text: 'Add' }] },
                  { type: 'function_call', call_id: 'c', name: 'calc', arguments: '{"e":"1+1"}' },
                  {
                    type: 'function_call_output',
                    call_id: 'c',
                    output: [{ type: 'input_text', text: '2' }],
                  },
                  { type: 'message', content: [{ type: 'output_text', text: '2' }] },
                ],
              },
            },
          },
        },
      },
    ])
    expect(job).toMatchObject({ format: 'open-webui', report: { conversations: 1, messages: 3 } })
    const conversation = await titled('From Open WebUI')
    expect(conversation).toMatchObject({ pinned: true, tags: ['Maths'] })
    const [, answer] = await messagesOf(conversation.id)
    expect(answer.process_steps).toMatchObject([
      { type: 'thinking', content: 'Add' },
      { type: 'tool_call', id_ref: 'c', arguments: '{"e":"1+1"}' },
      { type: 'tool_result', id_ref: 'c' },
      { type: 'text', content: '2' },
    ])
    await patch(conversation.id, { leaf_id: answer.siblings[0] })
    const [, other] = await messagesOf(conversation.id)
    expect(other.process_steps).toMatchObject([
      { type: 'thinking', content: 'One and one' },
      { type: 'text', content: 'Two' },
    ])
  })

  test('an import from LibreChat keeps trees of any depth', async () => {
    let tree: unknown[] = []
    for (let depth = 2_000; depth > 0; depth -= 1)
      tree = [
        {
          messageId: `m${depth}`,
          isCreatedByUser: depth % 2 === 1,
          text: `text ${depth}`,
          createdAt: '2024-04-09T14:32:05.230Z',
          children: tree,
        },
      ]
    const job = await take({
      conversationId: 'l1',
      title: 'From LibreChat',
      options: { model: 'gpt-4' },
      recursive: true,
      messagesTree: tree,
    })
    expect(job).toMatchObject({
      format: 'librechat',
      report: { conversations: 1, messages: 2_000 },
    })
    const messages = await messagesOf((await titled('From LibreChat')).id)
    expect(messages.at(-1)).toMatchObject({
      text: 'text 2000',
      model: 'gpt-4',
      created_at: '2024-04-09T14:32:05.230Z',
    })
  })

  test('an import from the Python NanoClaw keeps steps, settings and times, and its projects become tags', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nanoclaw-python-'))
    const file = join(folder, 'nano.db')
    const database = new SqliteClient(file)
    database.exec(`create table projects (id text, user_id int, name text, path text);
      create table conversations (id text primary key, user_id int, project_id text, title text, model text, system_prompt text, temperature float, max_tokens int, thinking_enabled boolean, created_at datetime, updated_at datetime);
      create table messages (id text primary key, conversation_id text, role text, content text, token_count int, created_at datetime);
      insert into projects values ('p', 1, 'Garden', '/tmp');
      insert into conversations values ('c', 1, 'p', 'From Python', 'glm-5', 'Be brief', 0.5, 100, 1, '2025-01-02 03:04:05.678901', null);
      insert into messages values ('1', 'c', 'user', '{"text":"Water?"}', 3, '2025-01-02 03:04:06');
      insert into messages values ('2', 'c', 'assistant', '{"text":"Yes","steps":[{"type":"thinking","content":"Dry"},{"type":"text","content":"Yes"}]}', 9, '2025-01-02 03:04:07');`)
    database.close()
    const job = await take(new Uint8Array(readFileSync(file)), 'nano.db')
    rmSync(folder, { recursive: true })
    expect(job).toMatchObject({
      format: 'python',
      report: { conversations: 1, messages: 2, skipped_total: 0 },
    })
    const conversation = await titled('From Python')
    expect(conversation).toMatchObject({
      system_prompt: 'Be brief',
      temperature: 0.5,
      tags: ['Garden'],
      created_at: '2025-01-02T03:04:05.678Z',
    })
    const [question, answer] = await messagesOf(conversation.id)
    expect(question).toMatchObject({ text: 'Water?', created_at: '2025-01-02T03:04:06.000Z' })
    expect(answer).toMatchObject({
      text: 'Yes',
      model: 'glm-5',
      process_steps: [{ type: 'thinking', content: 'Dry' }, { type: 'text' }],
    })
  })
})
