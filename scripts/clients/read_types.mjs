// The fields that @linode/api-v4 requires of each answer, as JSON: by path, a field for each that
// is not optional in its types, with dots for what is within and `[]` for the rows of a list. Its
// functions are called with an adapter that answers nothing, which tells their paths.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import * as api from '@linode/api-v4'
import ts from 'typescript'

const root = process.cwd()
const require = createRequire(`${root}/`)
const version = JSON.parse(readFileSync(`${root}/node_modules/@linode/api-v4/package.json`)).version
const types = require.resolve('@linode/api-v4').replace(/index\.\w+$/, 'index.d.ts')
const DEEPEST = 4

const program = ts.createProgram([types], {
  strict: true, moduleResolution: ts.ModuleResolutionKind.NodeJs, skipLibCheck: true,
})
const checker = program.getTypeChecker()
const module = checker.getSymbolAtLocation(program.getSourceFile(types))

let asked
api.baseRequest.defaults.adapter = async (config) => {
  asked ??= `${config.method.toUpperCase()} ${config.url.replace(/^.*?\/v4(beta)?/, '')}`
  throw new Error('nothing is sent')
}

async function pathOf(call, count) {
  asked = undefined
  try {
    await call(...Array.from({ length: count }, (_, at) => `{${at}}`))
  } catch {
    // Refused here, or not sent.
  }
  return asked && decodeURI(asked).replace(/\/$/, '').replace(/\{\d+\}|undefined/g, '{}')
}

function isNothing(type) {
  return (type.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)) !== 0
}

function fields(type, prefix, depth, into) {
  const parts = type.isUnion() ? type.types.filter((each) => !isNothing(each)) : [type]
  if (parts.length !== 1 || depth > DEEPEST) return
  const [plain] = parts
  if (checker.isTupleType(plain)) return
  if (checker.isArrayType(plain)) {
    fields(checker.getTypeArguments(plain)[0], `${prefix}[]`, depth + 1, into)
    return
  }
  if (!(plain.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return
  for (const property of checker.getPropertiesOfType(plain)) {
    if (property.flags & ts.SymbolFlags.Optional) continue
    const of = checker.getTypeOfSymbol(property)
    if (of.getCallSignatures().length > 0) continue
    const name = prefix === '' ? property.name : `${prefix}.${property.name}`
    into.push(name)
    fields(of, name, depth + 1, into)
  }
}

function rowOf(signature) {
  let type = checker.getReturnTypeOfSignature(signature)
  if (type.symbol?.name !== 'Promise') return undefined
  ;[type] = checker.getTypeArguments(type)
  if (type.symbol?.name === 'ResourcePage' || type.aliasSymbol?.name === 'ResourcePage') {
    return checker.getTypeOfPropertyOfType(type, 'data')
  }
  return type
}

const found = {}
for (const symbol of checker.getExportsOfModule(module)) {
  const call = api[symbol.name]
  if (typeof call !== 'function' || symbol.name === 'setToken') continue
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const [signature] = checker.getTypeOfSymbol(target).getCallSignatures()
  const row = signature && rowOf(signature)
  if (row === undefined) continue
  const path = await pathOf(call, signature.parameters.length)
  if (path === undefined) continue
  const into = []
  let plain = row
  while (checker.isArrayType(plain)) [plain] = checker.getTypeArguments(plain)
  fields(plain, '', 1, into)
  if (into.length > 0) found[path] = into.sort()
}
const sorted = Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)))
console.log(JSON.stringify({ version, fields: sorted }))
