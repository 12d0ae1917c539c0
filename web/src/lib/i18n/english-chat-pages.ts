// English texts of the chat that load after the first screen: the queue of messages.
export const chatPages = {
  queue: {
    title: 'Queued messages',
    waiting_one: 'Sent when this answer is complete',
    waiting_other: '{{count}} messages, sent one by one when the answers before them are complete',
    paused: 'Paused, because the last answer didn’t end normally. Send or remove what’s left.',
    failed: 'Not sent: {{reason}}',
    edit: 'Edit queued message',
    remove: 'Remove from queue',
    sendNow: 'Send now',
    stopAndSend: 'Stop the answer and send now',
  },
}
