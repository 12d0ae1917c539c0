// The notice to the sender of a message that could not be delivered.
import { expect, test } from 'vitest'
import { givenUpNotice } from '../../../server/messaging/given-up-notice.ts'
import { storedFailure } from '../../../server/protocol/failures/stored.ts'

const undelivered = { channel: 'ops', failure: storedFailure('delivery_refused', { status: 500 }) }

test.each([
  [
    'The build failed.',
    'The message to channel:ops could not be delivered (the receiver responded with status 500): “The build failed.”',
  ],
  [
    'Der Build ist fehlgeschlagen.',
    'Die Nachricht an channel:ops konnte nicht zugestellt werden (der Empfänger hat mit Status 500 geantwortet): „Der Build ist fehlgeschlagen.“',
  ],
  [
    'Falló la compilación, y los archivos no están.',
    'No se pudo entregar el mensaje a channel:ops (el destinatario respondió con el estado 500): «Falló la compilación, y los archivos no están.»',
  ],
  [
    'La compilation est en échec.',
    'Le message à channel:ops n’a pas pu être remis (le destinataire a répondu avec le statut 500)\u00a0: «\u202fLa compilation est en échec.\u202f»',
  ],
  [
    'A compilação não terminou.',
    'Não foi possível entregar a mensagem para channel:ops (o destinatário respondeu com o status 500): “A compilação não terminou.”',
  ],
  [
    'Сборка не удалась.',
    'Не удалось доставить сообщение для channel:ops (получатель ответил кодом 500): «Сборка не удалась.»',
  ],
  [
    'ビルドに失敗しました。',
    'channel:ops へのメッセージを配信できませんでした（受信側が 500 を返しました）：「ビルドに失敗しました。」',
  ],
  [
    '빌드가 실패했습니다.',
    'channel:ops(으)로 보낸 메시지를 전달하지 못했습니다(수신 측이 상태 500(으)로 응답했습니다): “빌드가 실패했습니다.”',
  ],
  ['构建失败了。', '发往 channel:ops 的消息未能送达（接收方返回了 500）：“构建失败了。”'],
  ['建置失敗了。', '傳送到 channel:ops 的訊息未能送達（接收方傳回了 500）：「建置失敗了。」'],
])('the notice of “%s” and its reason are in the language of the message', (text, notice) => {
  expect(givenUpNotice({ ...undelivered, text })).toBe(notice)
})

test('the notice quotes at most 200 characters of a long message, with its fields as they are', () => {
  const text = `{{reason}} ${'x'.repeat(5_000)}`
  const notice = givenUpNotice({ ...undelivered, text })
  expect(notice).toContain(`“${text.slice(0, 200)}”`)
})

test('a reason without a text in the language is told in English', () => {
  const failure = { reason: 'delivery_from_later', message: 'the receiver sleeps' }
  expect(givenUpNotice({ channel: 'ops', text: '构建失败了。', failure })).toContain(
    '（the receiver sleeps）',
  )
})
