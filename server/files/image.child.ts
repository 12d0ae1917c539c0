// The child process that decodes one image: checks it, removes its metadata, scales it, and makes a thumbnail.
import { errorText } from '../errors.ts'
import { processImage } from './process-image.ts'

const [, , input = '', output = ''] = process.argv
try {
  process.stdout.write(JSON.stringify({ ok: true, ...(await processImage(input, output)) }))
} catch (error) {
  process.stdout.write(JSON.stringify({ ok: false, internal: errorText(error).slice(0, 1000) }))
}
