// Removes network, process and thread APIs from the interpreter's process. Must be the first import.
import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import fs from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import os from 'node:os'
import tls from 'node:tls'
import v8 from 'node:v8'
import vm from 'node:vm'
import workerThreads from 'node:worker_threads'

const deny = () => {
  throw new Error('Not available in the sandbox')
}

const denyAll = (target, names) => {
  for (const name of names) {
    if (!(name in target)) continue
    Object.defineProperty(target, name, { value: deny, writable: false, configurable: false })
  }
}

denyAll(net, ['connect', 'createConnection', 'createServer'])
denyAll(net.Socket.prototype, ['connect'])
denyAll(net.Server.prototype, ['listen'])
denyAll(tls, ['connect', 'createServer'])
denyAll(http, ['request', 'get', 'createServer'])
denyAll(https, ['request', 'get', 'createServer'])
denyAll(http2, ['connect', 'createServer', 'createSecureServer'])
denyAll(dgram, ['createSocket', 'Socket'])
denyAll(
  dns,
  Object.keys(dns).filter((name) => typeof dns[name] === 'function'),
)
denyAll(
  dns.promises,
  Object.keys(dns.promises).filter((name) => typeof dns.promises[name] === 'function'),
)
denyAll(childProcess, [
  'spawn',
  'spawnSync',
  'exec',
  'execSync',
  'execFile',
  'execFileSync',
  'fork',
])
denyAll(workerThreads, ['Worker', 'BroadcastChannel', 'MessageChannel'])
syncBuiltinESMExports()

for (const name of [
  'fetch',
  'WebSocket',
  'EventSource',
  'Request',
  'Response',
  'BroadcastChannel',
  'MessageChannel',
  'Worker',
]) {
  Object.defineProperty(globalThis, name, {
    value: undefined,
    writable: false,
    configurable: false,
  })
}

// The server passes no environment, but wrappers may add variables.
for (const name of Object.keys(process.env)) delete process.env[name]

// Pyodide reads the constants this way at startup; everything else behind `binding` is denied.
process.binding = (name) => (name === 'constants' ? { fs: fs.constants, os: os.constants } : deny())

/** Removes what only startup needs. Call it once, before reading the program. */
export function lockProcess() {
  denyAll(process, [
    'binding',
    '_linkedBinding',
    'getBuiltinModule',
    'dlopen',
    'kill',
    '_kill',
    'abort',
    'execve',
    'chdir',
    'setuid',
    'setgid',
    'seteuid',
    'setegid',
    'setgroups',
    'initgroups',
    '_debugProcess',
    '_startProfilerIdleNotifier',
  ])
  denyAll(v8, ['setFlagsFromString'])
  denyAll(vm, [
    'Script',
    'compileFunction',
    'createScript',
    'runInContext',
    'runInNewContext',
    'runInThisContext',
  ])
  for (const name of ['mainModule', 'report'])
    Object.defineProperty(process, name, { value: undefined, writable: false, configurable: false })
  // Pyodide leaves a global `require` that exposes fs and child_process.
  Object.defineProperty(globalThis, 'require', {
    value: undefined,
    writable: false,
    configurable: false,
  })
}
