/* What the mixed load runs of njs: in http, and a filter in stream. */

function say(r) {
    r.return(200, 'x'.repeat(5000));
}


function sub(r) {
    r.subrequest('/slow/some', function (reply) {
        r.return(200, String(reply.status));
    });
}


function fetch(r) {
    ngx.fetch('http://127.92.53.2:8111/some')
    .then(function (reply) { return reply.text(); })
    .then(function (text) { r.return(200, text); })
    .catch(function (e) { r.return(500, e.message); });
}


function header(r) {
    r.headersOut['X-Filtered'] = 'yes';
    delete r.headersOut['Content-Length'];
}


function body(r, data, flags) {
    r.sendBuffer(data.toUpperCase(), flags);
}


function access(s) {
    s.on('upload', function (data, flags) { s.allow(); });
}


function filter(s) {
    s.on('upload', function (data, flags) { s.send(data, flags); });
}


export default { say, sub, fetch, header, body, access, filter };
