// Chinese texts of the chat that load after the first screen: the queue of messages.
import type { chatPages as english } from './english-chat-pages.ts'

export const chatPages: typeof english = {
  queue: {
    title: '排队中的消息',
    waiting_one: '当前回答完成后自动发送',
    waiting_other: '{{count}} 条消息，将在前一条回答完成后依次发送',
    paused: '上一条回答未正常结束，排队已暂停。可以手动发送或移除。',
    failed: '未能发送：{{reason}}',
    edit: '编辑排队的消息',
    remove: '移出队列',
    sendNow: '立即发送',
    stopAndSend: '停止回答并立即发送',
  },
}
