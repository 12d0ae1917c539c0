// Imports of ChatGPT's exports over real HTTP. The form is that of the program's own exports; the texts are ours.
import sharp from 'sharp'
import { describe, expect, test } from 'vitest'
import { chatGpt, node, said, simple } from '../../support/chatgpt-exports.ts'
import { useImports, zipOf } from '../../support/server/transfers.ts'

describe('imports from ChatGPT', () => {
  const { get, titled, messagesOf, patch, take } = useImports()

  test('a conversation that is compressed more than 200 times is imported', async () => {
    const long = chatGpt('long', [node('u', 'root', 'user', said('x'.repeat(2_000_000)))], 'u')
    const job = await take(zipOf({ 'conversations.json': [long] }), 'chatgpt.zip')
    expect(job.report).toMatchObject({ conversations: 1, messages: 1, skipped_total: 0 })
  })

  test('an import from ChatGPT keeps branches, models, times, files, reasoning and calls, and skips a broken entry', async () => {
    const photo = await sharp({ create: { width: 3, height: 3, channels: 3, background: 'blue' } })
      .png()
      .toBuffer()
    const pointer = {
      content_type: 'multimodal_text',
      parts: [
        { content_type: 'image_asset_pointer', asset_pointer: 'sediment://file_00ab' },
        'What is it?',
      ],
    }
    const hidden = { metadata: { is_visually_hidden_from_conversation: true } }
    const rich = chatGpt(
      'rich',
      [
        node('ctx', 'root', 'user', { content_type: 'user_editable_context' }, hidden),
        node('u1', 'ctx', 'user', pointer, {
          metadata: {
            attachments: [
              { id: 'file_00ab', name: 'photo.png' },
              { id: 'file-gone', name: 'gone.pdf' },
            ],
          },
        }),
        node('t', 'u1', 'assistant', {
          content_type: 'thoughts',
          thoughts: [{ summary: 'Look', content: 'A blue square' }],
        }),
        node(
          'c',
          't',
          'assistant',
          { content_type: 'code', language: 'python', text: 'print(1)' },
          { recipient: 'python' },
        ),
        node('r', 'c', 'tool', { content_type: 'execution_output', text: '1' }),
        node('a1', 'r', 'assistant', said('Blue \ue200cite\ue202turn0\ue201.'), {
          metadata: { model_slug: 'o4-mini' },
        }),
        node('a2', 'u1', 'assistant', {
          content_type: 'multimodal_text',
          parts: [
            'A square.',
            { content_type: 'image_asset_pointer', asset_pointer: 'file-service://file-Drawn1' },
          ],
        }),
      ],
      'a1',
    )
    const job = await take(
      zipOf({
        'export_manifest.json': {},
        'conversations-000.json': [{ title: 'Corrupted', conversation_id: 'x' }, rich],
        'conversations-001.json': [simple('second')],
        'file_00ab-sanitized.png': new Uint8Array(photo),
        'dalle-generations/file-Drawn1-square.png': new Uint8Array(photo),
        'chat.html': '<html></html>',
      }),
      'chatgpt.zip',
    )
    expect(job).toMatchObject({
      status: 'completed',
      format: 'chatgpt',
      report: { conversations: 2, messages: 5, files: 2, skipped_total: 2 },
    })
    expect(job.report.skipped).toEqual([
      expect.objectContaining({ what: 'Corrupted', reason: 'import_unreadable' }),
      expect.objectContaining({ what: 'gone.pdf', reason: 'import_file_missing' }),
    ])
    const conversation = await titled('Chat rich')
    expect(conversation).toMatchObject({
      message_count: 3,
      approval: null,
      created_at: '2025-08-24T01:46:40.123Z',
    })
    const [question, answer] = await messagesOf(conversation.id)
    expect(question).toMatchObject({
      text: 'What is it?',
      attachments: [{ name: 'photo.png', mime: 'image/png' }],
    })
    expect(answer).toMatchObject({ text: 'Blue .', model: 'gpt-5', parent_id: question.id })
    expect(answer.siblings).toHaveLength(2)
    expect(answer.process_steps).toMatchObject([
      { type: 'thinking', content: '**Look**\n\nA blue square' },
      { type: 'tool_call', name: 'python', arguments: '{"input":"print(1)"}' },
      { type: 'tool_result', content: '{"success":true,"data":"1"}' },
      { type: 'text', content: 'Blue .' },
    ])
    // The file of an answer is found and belongs to its message.
    const [hit] = (await get('/api/search?q=square&type=file')).items
    expect(hit).toMatchObject({ role: 'assistant', conversation_id: conversation.id })
    await patch(conversation.id, { leaf_id: hit.message_id })
    const [, drawn] = await messagesOf(conversation.id)
    expect(drawn).toMatchObject({ text: 'A square.', attachments: [{ file_id: hit.file_id }] })
    const again = await take([rich], 'conversations.json')
    expect(again.report).toMatchObject({ conversations: 0, skipped_total: 1 })
    expect(again.report.skipped[0].reason).toBe('import_already_there')
  })
})
