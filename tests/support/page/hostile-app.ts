// What hostile apps of tests try in a browser.

/** Functions for their scripts. `udp` is a port of this machine that `peer` asks by WebRTC. */
export const attempts = (
  udp: number,
): string => `const event = (target) => new Promise((resolve, reject) => {
  target.onload = target.onopen = () => resolve('reached')
  target.onerror = () => reject(new Error('error'))
})
const added = (name, fields) => {
  const element = Object.assign(document.createElement(name), fields)
  const done = event(element)
  document.body.append(element)
  return done
}
const peer = async () => {
  const connection = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${udp}' }] })
  connection.createDataChannel('c')
  const gathered = new Promise((resolve) => {
    connection.onicegatheringstatechange = () => connection.iceGatheringState === 'complete' && resolve()
  })
  await connection.setLocalDescription(await connection.createOffer())
  await gathered
}`
