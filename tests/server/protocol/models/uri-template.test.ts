// URI templates: the examples of RFC 6570, and what is no template.
import { expect, test } from 'vitest'
import {
  expandUriTemplate,
  isUriTemplate,
  variablesOf,
} from '../../../../server/protocol/models/uri-template.ts'

const values = {
  var: 'value',
  hello: 'Hello World!',
  half: '50%',
  empty: '',
  x: '1024',
  y: '768',
  path: '/foo/bar',
  base: 'http://example.com/home/',
}

test.each([
  ['{var}', 'value'],
  ['{hello}', 'Hello%20World%21'],
  ['{half}', '50%25'],
  ['O{empty}X', 'OX'],
  ['O{undef}X', 'OX'],
  ['{x,hello,y}', '1024,Hello%20World%21,768'],
  ['?{x,empty}', '?1024,'],
  ['?{undef,y}', '?768'],
  ['{var:3}', 'val'],
  ['{+hello}', 'Hello%20World!'],
  ['{+half}', '50%25'],
  ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'],
  ['{+base}index', 'http://example.com/home/index'],
  ['{+path:6}/here', '/foo/b/here'],
  ['X{#var}', 'X#value'],
  ['{#path,x}/here', '#/foo/bar,1024/here'],
  ['X{.x,y}', 'X.1024.768'],
  ['{/var,x}/here', '/value/1024/here'],
  ['{/var*}', '/value'],
  ['{;x,y,empty}', ';x=1024;y=768;empty'],
  ['{?x,y,empty}', '?x=1024&y=768&empty='],
  ['{?x,undef}', '?x=1024'],
  ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
])('%s becomes %s', (template, expanded) => {
  expect(isUriTemplate(template)).toBe(true)
  expect(expandUriTemplate(template, values)).toBe(expanded)
})

test('a filled-in value is not read as a template, and half a surrogate pair causes no error', () => {
  expect(expandUriTemplate('a://{x}/{y}', { x: '{y}', y: '\ud800' })).toBe('a://%7By%7D/%EF%BF%BD')
  expect(expandUriTemplate('a://{toString}', {})).toBe('a://')
})

test('variables are listed once, and query variables may be omitted', () => {
  expect(variablesOf('f://{owner}/{+path}{?page,owner}{#part}')).toEqual([
    { name: 'owner', required: true },
    { name: 'path', required: true },
    { name: 'page', required: false },
    { name: 'part', required: false },
  ])
})

test.each(['{', 'a}', '{}', '{a', '{a b}', '{=a}', '{a,}', '{{a}}', '{a:x}'])(
  '%s is not a template',
  (text) => {
    expect(isUriTemplate(text)).toBe(false)
  },
)
