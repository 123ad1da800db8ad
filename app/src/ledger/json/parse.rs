//! The strict reader behind `Json::parse`.
//!
//! One pass over the text by recursive descent; the depth is bounded, so the stack is too. Leaves the size of the text
//! to whoever read it from the wire. Invariant: every byte of the input is looked at, and what is taken is JSON by RFC 8259.

use std::collections::BTreeSet;

use super::{Fault, Json, JsonError, MAX_DEPTH, Number, pointer_token};

pub(super) fn parse(bytes: &[u8]) -> Result<Json, JsonError> {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        return Err(JsonError { fault: Fault::ByteOrderMark, offset: 0, path: String::new() });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| JsonError {
        fault: Fault::NotUtf8,
        offset: error.valid_up_to(),
        path: String::new(),
    })?;
    let mut reader = Reader { text, at: 0, path: Vec::new() };
    let value = reader.value()?;
    reader.space();
    if reader.at < text.len() { Err(reader.error(Fault::Trailing)) } else { Ok(value) }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Tokens of the pointer to the value being read; its length is the depth.
    path: Vec<String>,
}

type Read<T> = Result<T, JsonError>;

impl Reader<'_> {
    fn error(&self, fault: Fault) -> JsonError {
        self.error_at(fault, self.at)
    }

    fn error_at(&self, fault: Fault, offset: usize) -> JsonError {
        let path = self.path.iter().fold(String::new(), |path, token| path + "/" + &pointer_token(token));
        JsonError { fault, offset, path }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Steps over `byte` if it is next.
    fn take(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        self.at += usize::from(next);
        next
    }

    fn expect(&mut self, byte: u8, name: &'static str) -> Read<()> {
        if self.take(byte) { Ok(()) } else { Err(self.unexpected(name)) }
    }

    fn unexpected(&self, name: &'static str) -> JsonError {
        self.error(if self.peek().is_none() { Fault::EndsEarly } else { Fault::Expected(name) })
    }

    fn value(&mut self) -> Read<Json> {
        self.space();
        match self.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b't') => self.literal("true", Json::Bool(true)),
            Some(b'f') => self.literal("false", Json::Bool(false)),
            Some(b'n') => self.literal("null", Json::Null),
            _ => Err(self.unexpected("a value")),
        }
    }

    fn literal(&mut self, word: &'static str, value: Json) -> Read<Json> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else if word.as_bytes().starts_with(rest) {
            Err(self.error_at(Fault::EndsEarly, self.text.len()))
        } else {
            Err(self.error(Fault::Expected("a value")))
        }
    }

    fn open(&mut self) -> Read<()> {
        if self.path.len() >= MAX_DEPTH {
            return Err(self.error(Fault::TooDeep));
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    fn array(&mut self) -> Read<Json> {
        self.open()?;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            self.path.push(items.len().to_string());
            items.push(self.value()?);
            self.path.pop();
            self.space();
            if self.take(b']') {
                return Ok(Json::Array(items));
            }
            self.expect(b',', "a comma or ]")?;
        }
    }

    fn object(&mut self) -> Read<Json> {
        self.open()?;
        let mut members = Vec::new();
        let mut names = BTreeSet::new();
        if self.take(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a member's name in quotes"));
            }
            let name = self.string()?;
            if !names.insert(name.clone()) {
                return Err(self.error_at(Fault::Duplicate(name), start));
            }
            self.space();
            self.expect(b':', "a colon")?;
            self.path.push(name.clone());
            let value = self.value()?;
            self.path.pop();
            members.push((name, value));
            self.space();
            if self.take(b'}') {
                return Ok(Json::Object(members));
            }
            self.expect(b',', "a comma or }")?;
        }
    }

    fn number(&mut self) -> Read<Number> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.error_at(Fault::Expected("a number without leading zeros"), start));
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        let number = Number(self.text[start..self.at].to_owned());
        if number.to_f64().is_finite() { Ok(number) } else { Err(self.error_at(Fault::TooLarge, start)) }
    }

    fn digits(&mut self) -> Read<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected("a digit")) } else { Ok(()) }
    }

    fn string(&mut self) -> Read<String> {
        self.at += 1;
        let mut string = String::new();
        loop {
            let run = self.at;
            while matches!(self.peek(), Some(byte) if byte >= b' ' && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            string.push_str(&self.text[run..self.at]);
            match self.peek() {
                None => return Err(self.error(Fault::EndsEarly)),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => string.push(self.escape()?),
                Some(0) => return Err(self.error(Fault::Nul)),
                Some(_) => return Err(self.error(Fault::Control)),
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.peek() else { return Err(self.error(Fault::EndsEarly)) };
        self.at += 1;
        match letter {
            b'"' => Ok('"'),
            b'\\' => Ok('\\'),
            b'/' => Ok('/'),
            b'b' => Ok('\u{8}'),
            b'f' => Ok('\u{c}'),
            b'n' => Ok('\n'),
            b'r' => Ok('\r'),
            b't' => Ok('\t'),
            b'u' => self.unicode(start),
            _ => Err(self.error_at(Fault::Escape, start)),
        }
    }

    /// After `\u`, which began at `start`.
    fn unicode(&mut self, start: usize) -> Read<char> {
        let first = self.four_hex()?;
        if first == 0 {
            return Err(self.error_at(Fault::Nul, start));
        }
        let lone = |reader: &Self| reader.error_at(Fault::LoneSurrogate, start);
        let code = match first {
            0xD800..=0xDBFF => {
                if !(self.take(b'\\') && self.take(b'u')) {
                    return Err(lone(self));
                }
                let second = self.four_hex()?;
                if !(0xDC00..=0xDFFF).contains(&second) {
                    return Err(lone(self));
                }
                0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
            }
            other => other,
        };
        char::from_u32(code).ok_or_else(|| lone(self))
    }

    fn four_hex(&mut self) -> Read<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else { return Err(self.unexpected("four hex digits after \\u")) };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}
