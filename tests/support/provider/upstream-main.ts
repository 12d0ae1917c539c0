// The scripted provider as a child process: `tsx upstream-main.ts [port]`. Prints its URL as a line of JSON.
import { startUpstream } from './upstream.ts'
import { benchProgram } from './upstream-programs.ts'

const upstream = await startUpstream({ port: Number(process.argv[2] ?? 0) })
upstream.program(benchProgram)
process.stdout.write(`${JSON.stringify({ url: upstream.url })}\n`)
process.on('SIGTERM', () => process.exit(0))
// However the parent ends, its end of the pipe is closed: then this process exits as well.
process.stdin.on('end', () => process.exit(0)).resume()
