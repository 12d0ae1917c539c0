// A webhook receiver: verifies the signature of each request and prints the event.
// Usage (Node 20 or later, no packages): WEBHOOK_SECRET=whsec_… node examples/webhook.mjs
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = process.env.WEBHOOK_SECRET ?? ''
const port = Number(process.env.PORT ?? 8080)
const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
if (key.length === 0) throw new Error('Set WEBHOOK_SECRET to the secret of the webhook.')
const MAX_AGE_SECONDS = 300

/** Events that were received: one that is sent again has the same id. */
const seen = new Set()

function isGenuine(headers, body) {
  const id = headers['webhook-id'] ?? ''
  const time = headers['webhook-timestamp'] ?? ''
  // An old request may be a recorded copy.
  if (!(Math.abs(Date.now() / 1000 - Number(time)) < MAX_AGE_SECONDS)) return false
  const expected = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest()
  return (headers['webhook-signature'] ?? '').split(' ').some((one) => {
    const [version, signature = ''] = one.split(',')
    const given = Buffer.from(signature, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}

createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('utf8')
    if (!isGenuine(request.headers, body)) return response.writeHead(401).end()
    // Confirm at once and do the work afterwards: a request that takes longer than 15 seconds is sent again.
    response.writeHead(204).end()
    const id = request.headers['webhook-id']
    if (seen.has(id)) return
    seen.add(id)
    const { type, data } = JSON.parse(body)
    console.log(type, JSON.stringify(data))
  })
}).listen(port, '127.0.0.1', function () {
  console.log(`listening on http://127.0.0.1:${this.address().port}`)
})
